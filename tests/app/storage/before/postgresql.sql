CREATE TABLE accounts ( id VARCHAR(32) NOT NULL, name TEXT, name_key TEXT, password TEXT, generation INTEGER NOT NULL, created VARCHAR(27) COLLATE "C" NOT NULL, PRIMARY KEY (id) );

CREATE UNIQUE INDEX accounts_by_name ON accounts (name_key);

CREATE TABLE battle_players ( battle_id VARCHAR(32) NOT NULL, seat INTEGER NOT NULL, account VARCHAR(32), game_id VARCHAR(32), has_left BOOLEAN NOT NULL, score BIGINT, max_tile BIGINT, plies INTEGER, PRIMARY KEY (battle_id, seat) );

CREATE UNIQUE INDEX battle_players_by_account ON battle_players (battle_id, account);

CREATE INDEX battle_players_by_game ON battle_players (game_id);

CREATE INDEX battle_players_of ON battle_players (account);

CREATE TABLE battles ( id VARCHAR(32) NOT NULL, rules TEXT NOT NULL, minutes INTEGER NOT NULL, secret TEXT NOT NULL, created VARCHAR(27) COLLATE "C" NOT NULL, starts VARCHAR(27) COLLATE "C", ends VARCHAR(27) COLLATE "C", is_settled BOOLEAN NOT NULL, rematch VARCHAR(32), PRIMARY KEY (id) );

CREATE INDEX battles_by_state ON battles (is_settled, created);

CREATE TABLE bests ( owner TEXT NOT NULL, rules TEXT NOT NULL, category TEXT NOT NULL, score BIGINT NOT NULL, reached VARCHAR(27) COLLATE "C" NOT NULL, PRIMARY KEY (owner, rules, category) );

CREATE TABLE bot_games ( game_id VARCHAR(32) NOT NULL, owner VARCHAR(32) NOT NULL, control TEXT NOT NULL, PRIMARY KEY (game_id) );

CREATE INDEX bot_games_by_owner ON bot_games (owner);

CREATE TABLE days ( day VARCHAR(10) NOT NULL, secret TEXT NOT NULL, PRIMARY KEY (day) );

CREATE TABLE follows ( owner VARCHAR(32) NOT NULL, followed VARCHAR(32) NOT NULL, since VARCHAR(27) COLLATE "C" NOT NULL, PRIMARY KEY (owner, followed) );

CREATE INDEX follows_by_followed ON follows (followed);

CREATE TABLE games ( id VARCHAR(32) NOT NULL, owner TEXT NOT NULL, rules TEXT NOT NULL, seed TEXT, start TEXT NOT NULL, player TEXT NOT NULL, started VARCHAR(27) COLLATE "C" NOT NULL, updated VARCHAR(27) COLLATE "C" NOT NULL, length INTEGER NOT NULL, position INTEGER NOT NULL, score BIGINT NOT NULL, is_over BOOLEAN NOT NULL, revision INTEGER NOT NULL, undos INTEGER NOT NULL, hints INTEGER NOT NULL, extra TEXT NOT NULL, PRIMARY KEY (id) );

CREATE INDEX games_by_owner ON games (owner);

CREATE INDEX games_by_start ON games (started);

CREATE INDEX games_over ON games (started) WHERE is_over;

CREATE TABLE leaders ( period VARCHAR(16) COLLATE "C" NOT NULL, category TEXT NOT NULL, rules TEXT NOT NULL, owner VARCHAR(32) NOT NULL, score BIGINT NOT NULL, finished VARCHAR(27) COLLATE "C" NOT NULL, record VARCHAR(32) NOT NULL, PRIMARY KEY (period, category, rules, owner) );

CREATE INDEX leaders_by_owner ON leaders (owner);

CREATE INDEX leaders_by_score ON leaders (period, category, rules, score DESC, finished, record);

CREATE TABLE mistakes ( owner TEXT NOT NULL, rules TEXT NOT NULL, position TEXT NOT NULL, board TEXT NOT NULL, score BIGINT NOT NULL, game VARCHAR(64) NOT NULL, played TEXT NOT NULL, moves TEXT NOT NULL, unit TEXT NOT NULL, source TEXT NOT NULL, theme TEXT NOT NULL, box INTEGER NOT NULL, due VARCHAR(27) COLLATE "C" NOT NULL, tries INTEGER NOT NULL, successes INTEGER NOT NULL, PRIMARY KEY (owner, rules, position) );

CREATE INDEX mistakes_by_time ON mistakes (owner, due);

CREATE TABLE names ( account VARCHAR(32) NOT NULL, looks TEXT, bot_of VARCHAR(32), PRIMARY KEY (account) );

CREATE UNIQUE INDEX names_by_looks ON names (looks);

CREATE INDEX names_by_person ON names (bot_of);

CREATE TABLE puzzle_answers ( owner TEXT NOT NULL, puzzle INTEGER NOT NULL, answered VARCHAR(27) COLLATE "C" NOT NULL, is_solved BOOLEAN NOT NULL, rating FLOAT NOT NULL, deviation FLOAT NOT NULL, PRIMARY KEY (owner, puzzle) );

CREATE INDEX puzzle_answers_by_time ON puzzle_answers (owner, answered);

CREATE TABLE records ( id VARCHAR(32) NOT NULL, owner TEXT NOT NULL, rules TEXT NOT NULL, player TEXT NOT NULL, category TEXT NOT NULL, started VARCHAR(27) COLLATE "C" NOT NULL, finished VARCHAR(27) COLLATE "C" NOT NULL, score BIGINT NOT NULL, max_tile BIGINT NOT NULL, plies INTEGER NOT NULL, outcome TEXT NOT NULL, record TEXT NOT NULL, PRIMARY KEY (id) );

CREATE INDEX records_by_career ON records (owner, rules, category);

CREATE INDEX records_by_owner ON records (owner, finished);

CREATE INDEX records_by_score ON records (rules, category, score);

CREATE INDEX records_by_time ON records (rules, category, finished);

CREATE TABLE recovery_codes ( owner VARCHAR(32) NOT NULL, code VARCHAR(64) NOT NULL, created VARCHAR(27) COLLATE "C" NOT NULL, PRIMARY KEY (owner, code) );

CREATE TABLE reviews ( game_id VARCHAR(32) NOT NULL, owner TEXT NOT NULL, version TEXT NOT NULL, asked VARCHAR(27) COLLATE "C" NOT NULL, attempts INTEGER NOT NULL, claimed VARCHAR(27) COLLATE "C", done INTEGER NOT NULL, finished VARCHAR(27) COLLATE "C", fault TEXT, summary TEXT NOT NULL, moves TEXT NOT NULL, PRIMARY KEY (game_id) );

CREATE INDEX reviews_by_owner ON reviews (owner);

CREATE INDEX reviews_in_line ON reviews (finished, asked);

CREATE TABLE rounds ( game_id VARCHAR(32) NOT NULL, owner VARCHAR(32) NOT NULL, mode TEXT NOT NULL, day VARCHAR(10), secret TEXT NOT NULL, PRIMARY KEY (game_id) );

CREATE UNIQUE INDEX rounds_by_day ON rounds (owner, day);

CREATE INDEX rounds_of_day ON rounds (day);

CREATE TABLE sessions ( id VARCHAR(64) NOT NULL, owner VARCHAR(32) NOT NULL, label TEXT NOT NULL, created VARCHAR(27) COLLATE "C" NOT NULL, seen VARCHAR(27) COLLATE "C" NOT NULL, PRIMARY KEY (id) );

CREATE INDEX sessions_by_owner ON sessions (owner);

CREATE TABLE settings ( owner TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (owner, key) );

CREATE TABLE turns ( game_id VARCHAR(32) NOT NULL, ply INTEGER NOT NULL, code TEXT NOT NULL, millis BIGINT, PRIMARY KEY (game_id, ply), FOREIGN KEY(game_id) REFERENCES games (id) ON DELETE CASCADE );

CREATE TABLE py2048_schema ( version_num VARCHAR(32) NOT NULL, CONSTRAINT py2048_schema_pkc PRIMARY KEY (version_num) );
