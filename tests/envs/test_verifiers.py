"""A model behind HTTP plays the verifiers task set."""

from __future__ import annotations

import base64
import json
import re
import sys
import threading
import types
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from py2048 import Record
from py2048.core import rng

vf = pytest.importorskip("verifiers.v1", reason="pip install py2048[verifiers]")


class Model(BaseHTTPRequestHandler):
    """Answers with the first legal move of the last board."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        legal = re.findall("legal: ([a-z]+)", str(request["messages"][-1]["content"])) or ["left"]
        message = {"role": "assistant", "content": f"I choose <move>{legal[-1]}</move>"}
        about = {"id": "1", "object": "chat.completion", "created": 1, "model": "first"}
        choices = [{"index": 0, "finish_reason": "stop", "message": message}]
        answer = json.dumps(about | {"choices": choices}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def model() -> Iterator[str]:
    """Return the address of the model's API."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


@pytest.fixture
def harness(monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a harness that asks once in this process, without a new environment."""
    import httpx
    from verifiers.v1.dialects.chat import message_to_wire

    class Asking(vf.Harness[vf.HarnessConfig]):  # type: ignore[misc, name-defined]
        SUPPORTS_RESUME = APPENDS_SYSTEM_PROMPT = True
        EXECUTES_CODE = NEEDS_CONTAINER = False

        async def launch(
            self, ctx: Any, trace: Any, runtime: Any, endpoint: str, secret: str, *rest: Any
        ) -> Any:
            system, messages = self.resolve_prompt(rest[1])
            asked = [{"role": "system", "content": system}, *map(message_to_wire, messages)]
            async with httpx.AsyncClient(headers={"authorization": f"Bearer {secret}"}) as http:
                body = {"model": ctx.model, "messages": asked}
                (await http.post(f"{endpoint}/chat/completions", json=body)).raise_for_status()
            return vf.ProgramResult(exit_code=0, stdout="", stderr="")

    module = types.ModuleType("asking_harness")
    vars(module).update(Asking=Asking, __all__=["Asking"])
    monkeypatch.setitem(sys.modules, "asking_harness", module)
    return "asking_harness"


async def test_a_model_plays_games_that_are_scored_and_verified(
    model: str, harness: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trace has the reward, the metrics and the record; the games are those of their seeds."""
    monkeypatch.setenv("ANY_KEY", "any")
    taskset = {"id": "py2048-verifiers", "rules": "3x3", "seed": 5, "games": 2, "max_moves": 9}
    player = {"harness": {"id": harness}, "runtime": {"type": "subprocess"}}
    env = vf.load_environment(vf.resolve_env_config({"taskset": taskset, "player": player}))
    client = vf.EvalClientConfig(base_url=model, api_key_var="ANY_KEY")
    context = vf.ModelContext(model="first", client=client, sampling=vf.SamplingConfig())
    async with env.serving():
        episodes = [
            await env.run_slot(slot, context) for task in env.taskset for slot in env.slots(task)
        ]
    for number, episode in enumerate(episodes):
        assert episode.ok, episode.errors or episode.traces
        (trace,) = episode.traces
        record = Record.from_json(trace.info["record"])
        record.verify()
        assert (record.seed, record.plies) == (rng.derive_seed(5, number), 9)
        assert trace.reward == record.score == trace.metrics["score"]


def test_pictures_are_sent_as_pictures() -> None:
    """Image observations are sent as images, not as text."""
    config = vf.resolve_env_config({"taskset": {"id": "py2048-verifiers", "observation": "image"}})
    (message,) = next(iter(vf.load_taskset(config.taskset))).data.prompt
    (part,) = message.content
    head, _, data = part.image_url.url.partition(",")
    assert head == "data:image/png;base64"
    assert base64.b64decode(data).startswith(b"\x89PNG")
