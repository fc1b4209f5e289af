// Generated from schema.py by scripts/protocol_types.py (`make messages`). Do not edit.

declare namespace Protocol {
  interface AdviceRequest {
    board: number[][];
    rules?: string;
    player?: string | null;
    level?: string;
  }

  interface AutoplayMessage {
    type: "autoplay";
    game: string;
    player: string | null;
  }

  interface AutoplayRequest {
    type: "autoplay";
    player?: string | null;
    delay?: number;
  }

  interface BattleMessage {
    type: "battle";
    battle: string;
    stage: "gathering" | "running" | "over";
    starts_ms: number | null;
    ends_ms: number | null;
    rematch: string | null;
    you: number | null;
    players: BattlePlayerInfo[];
  }

  interface BattlePlayerInfo {
    seat: number;
    name: string;
    game: string | null;
    score: number;
    max_tile: number;
    plies: number;
    is_over: boolean;
    has_left: boolean;
    place: number;
    board: number[][] | null;
  }

  interface BattleRequest {
    type: "battle";
    battle?: string | null;
    game?: string | null;
  }

  interface BotAnswer {
    name: string;
    person: string | null;
    games: BotGame[];
  }

  interface BotGame {
    game: string;
    rules: string;
    score: number;
    ply: number;
    updated: string;
  }

  interface ChanceInfo {
    tile: number;
    made: number;
    games: number;
  }

  interface CompilingMessage {
    type: "compiling";
    game: string;
    player: string;
    share: number;
    say: string;
  }

  interface ErrorAnswer {
    error: string;
    reason: string;
    retry_ms: number;
  }

  interface EventsMessage {
    type: "events";
    game: string;
    version: number;
    board: number[][];
    score: number;
    best: number;
    ply: number;
    outcome: "playing" | "won" | "lost" | "ended";
    won: boolean;
    legal: ("up" | "down" | "left" | "right")[];
    can_undo: boolean;
    can_redo: boolean;
    category: "plain" | "assisted" | "computer" | "position";
    autoplay: string | null;
    secret: string | null;
    think_ms: number | null;
    events: (MovedEvent | NothingMovedEvent | UndoneEvent | WonEvent | OverEvent)[];
  }

  interface GameRequest {
    rules?: string;
    mode?: "bot" | "casual";
  }

  interface GameRow {
    place: number | null;
    player: string | null;
    game: string;
    rules: RulesInfo;
    mode: "ranked" | "casual" | "daily" | "bot" | "battle";
    board: "plain" | "ranked" | "assisted" | "computer" | "bot" | "daily" | "battle" | "position";
    score: number;
    max_tile: number;
    plies: number;
    started: string;
    finished: string | null;
    outcome: "playing" | "won" | "lost" | "ended";
    think_ms: number | null;
  }

  interface GamesMessage {
    type: "games";
    games: OpenGameInfo[];
  }

  interface GamesRequest {
    type: "games";
  }

  interface HabitInfo {
    reason: "ended" | "corner" | "trapped" | "meeting" | "room";
    count: number;
    cost: number;
    turns: number[];
    say: string;
  }

  interface HelloMessage {
    type: "hello";
    me: Me;
    current: string | null;
    players: string[];
  }

  interface HintMessage {
    type: "hint";
    direction: "up" | "down" | "left" | "right";
    values: { [name in "up" | "down" | "left" | "right"]?: number };
    errors: { [name in "up" | "down" | "left" | "right"]?: number };
    goal: number | null;
    unit: "points" | "rating" | "chance";
    policy: string | null;
    chance: ChanceInfo | null;
    player: string;
    instead_of: string | null;
    game: string;
    version: number;
    say: string;
    headline: string;
    reason: string;
    options: HintOption[];
    outlook: string;
  }

  interface HintOption {
    direction: "up" | "down" | "left" | "right";
    text: string;
    share: number;
    grade: string | null;
  }

  interface HintRequest {
    type: "hint";
    number: number;
    chain?: number;
    player?: string | null;
    level?: string;
  }

  interface LeaderboardAnswer {
    rules: string;
    board: "ranked" | "assisted" | "computer" | "bot" | "daily" | "battle";
    period: string;
    games: GameRow[];
  }

  interface LeaderboardQuery {
    rules?: string;
    board?: "assisted" | "bot" | "computer" | "daily" | "ranked";
    period?: string;
  }

  interface LeaveRequest {
    type: "leave";
  }

  interface LineInfo {
    turns: PlayedTurn[];
    fear: number | null;
  }

  interface Me {
    name: string;
    is_guest: boolean;
  }

  interface Moment {
    ply: number;
    played: "up" | "down" | "left" | "right";
    best: "up" | "down" | "left" | "right";
    grade: "best" | "good" | "inaccuracy" | "mistake" | "blunder";
    loss: number;
    share: number;
    luck: number;
    source: string;
    goal: number | null;
    survival: boolean;
    values: { [name in "up" | "down" | "left" | "right"]?: number };
    errors: { [name in "up" | "down" | "left" | "right"]?: number };
    reason: ReasonInfo | null;
    options: HintOption[];
    badge: string;
    headline: string;
    why: string;
    turn: number;
    board: number[][];
    lines: { [name in "up" | "down" | "left" | "right"]?: LineInfo };
  }

  interface MoveBody {
    number: number;
    direction: "down" | "left" | "right" | "up";
  }

  interface MoveRequest {
    type: "move";
    number: number;
    chain?: number;
    direction: "down" | "left" | "right" | "up";
  }

  interface MovedEvent {
    kind: "moved";
    direction: "up" | "down" | "left" | "right";
    points: number;
    spawn: NewTile | null;
    redone: boolean;
  }

  interface NewGame {
    type: "new";
    rules?: string;
    mode?: string;
  }

  interface NewTile {
    tile: number;
    cell: [number, number];
  }

  interface NothingMovedEvent {
    kind: "nothing_moved";
    direction: "up" | "down" | "left" | "right";
    points: number;
  }

  interface OfflineRequest {
    type: "offline";
    number: number;
    turns: string;
    category?: "plain" | "assisted" | "computer" | "position";
  }

  interface OpenGameInfo {
    game: string;
    rules: RulesInfo;
    mode: "ranked" | "casual" | "daily" | "bot" | "battle";
    score: number;
    ply: number;
    updated: string;
  }

  interface OpenRequest {
    type: "open";
    game: string;
  }

  interface OverEvent {
    kind: "over";
    say: string;
    outcome: "playing" | "won" | "lost" | "ended";
    score: number;
    best: number;
    is_best: boolean;
  }

  interface PhaseInfo {
    tile: number;
    first: number;
    last: number;
    loss: number;
    luck: number;
    accuracy: number | null;
  }

  interface PingRequest {
    type: "ping";
  }

  interface PlayedTurn {
    direction: "up" | "down" | "left" | "right";
    motions: TileMotion[];
    spawn: NewTile | null;
    board: number[][];
  }

  interface PlayerInfo {
    spec: string;
    summary: string;
  }

  interface PongMessage {
    type: "pong";
  }

  interface ReasonInfo {
    kind: "ended" | "corner" | "trapped" | "meeting" | "room";
    numbers: { [name in string]?: number };
  }

  interface RecordAnswer {
    format: string;
    version: number;
    rules: string;
    player: string;
    started: string;
    finished: string;
    seed: number | null;
    start: number[][];
    turns: string;
    score: number;
    undos: number;
    hints: number;
    times: number[];
    checksum: string;
  }

  interface RedoRequest {
    type: "redo";
    number: number;
    chain?: number;
  }

  interface RejectedMessage {
    type: "refused";
    reason: string;
    message: string;
    of: string;
    state: StateMessage | null;
    retry_ms: number;
    chain: number;
  }

  interface ReviewAnswer {
    game: string;
    state: "none" | "waiting" | "running" | "done" | "failed";
    ahead: number;
    done: number;
    total: number;
    fault: string | null;
    summary: ReviewSummary | null;
    from: number;
    moves: ReviewedMove[];
  }

  interface ReviewRequest {
    level?: string | null;
  }

  interface ReviewSummary {
    judge: string;
    level: string;
    wanted: string;
    unit: "points" | "rating" | "chance";
    exact: boolean;
    reviewed: number;
    accuracy: number | null;
    goal: number | null;
    habits: HabitInfo[];
    moments: Moment[];
    first: number | null;
    expected: number | null;
    loss: number;
    luck: number;
    swing: number;
    counts: { [name in "best" | "good" | "inaccuracy" | "mistake" | "blunder"]?: number };
    phases: PhaseInfo[];
    graph: string;
  }

  interface ReviewedMove {
    ply: number;
    played: "up" | "down" | "left" | "right";
    best: "up" | "down" | "left" | "right";
    grade: "best" | "good" | "inaccuracy" | "mistake" | "blunder";
    loss: number;
    share: number;
    luck: number;
    source: string;
    goal: number | null;
    survival: boolean;
    values: { [name in "up" | "down" | "left" | "right"]?: number };
    errors: { [name in "up" | "down" | "left" | "right"]?: number };
    reason: ReasonInfo | null;
    options: HintOption[];
    badge: string;
    headline: string;
    why: string;
  }

  interface RulesInfo {
    name: string;
    text: string;
    rows: number;
    columns: number;
    target: number | null;
    summary: string;
  }

  interface RulesQuery {
    text?: string;
  }

  interface SlideInfo {
    legal: boolean;
    points: number;
    board: number[][];
    motions: TileMotion[];
  }

  interface SlidesAnswer {
    legal: ("up" | "down" | "left" | "right")[];
    slides: { [name in "up" | "down" | "left" | "right"]?: SlideInfo };
  }

  interface StateMessage {
    type: "state";
    game: string;
    version: number;
    board: number[][];
    score: number;
    best: number;
    ply: number;
    outcome: "playing" | "won" | "lost" | "ended";
    won: boolean;
    legal: ("up" | "down" | "left" | "right")[];
    can_undo: boolean;
    can_redo: boolean;
    category: "plain" | "assisted" | "computer" | "position";
    autoplay: string | null;
    secret: string | null;
    think_ms: number | null;
    mine: boolean;
    watching: boolean;
    rules: RulesInfo;
    mode: "ranked" | "casual" | "daily" | "bot" | "battle";
    day: string | null;
    player: string;
    commitment: string | null;
    say: string;
  }

  interface TileMotion {
    source: [number, number];
    target: [number, number];
    merged: boolean;
  }

  interface TurnInfo {
    direction: "up" | "down" | "left" | "right";
    motions: TileMotion[];
    spawn: NewTile | null;
    board: number[][];
    kind: "moved" | "nothing_moved";
    points: number;
    score: number;
  }

  interface TurnsAnswer {
    game: string;
    start: number[][];
    from: number;
    total: number;
    turns: TurnInfo[];
    times: number[];
  }

  interface TurnsQuery {
    from?: number;
    limit?: number;
  }

  interface UndoRequest {
    type: "undo";
    number: number;
    chain?: number;
  }

  interface UndoneEvent {
    kind: "undone";
    direction: "up" | "down" | "left" | "right";
    points: number;
    spawn: NewTile | null;
  }

  interface VerifiedAnswer {
    ok: boolean;
    error: string;
    rules: string;
    player: string;
    score: number;
    plies: number;
    seed: number | null;
    fair: boolean;
  }

  interface VerifyQuery {
    secret?: string | null;
  }

  interface WatchRequest {
    type: "watch";
    game: string;
  }

  interface WonEvent {
    kind: "won";
    say: string;
    tile: number;
    plays_on: boolean;
  }

  type ServerMessage =
    | AutoplayMessage
    | BattleMessage
    | CompilingMessage
    | EventsMessage
    | GamesMessage
    | HelloMessage
    | HintMessage
    | PongMessage
    | RejectedMessage
    | StateMessage;

  type PageMessage =
    | AutoplayRequest
    | BattleRequest
    | GamesRequest
    | HintRequest
    | LeaveRequest
    | MoveRequest
    | NewGame
    | OfflineRequest
    | OpenRequest
    | PingRequest
    | RedoRequest
    | UndoRequest
    | WatchRequest;

  type PlayedEvent =
    | MovedEvent
    | NothingMovedEvent
    | OverEvent
    | UndoneEvent
    | WonEvent;
}
