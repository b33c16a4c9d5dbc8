#!/usr/bin/env python3
"""Schemathesis against the served OpenAPI document of a real server.

Starts `arena serve` in a folder of its own, makes keys, and lets Schemathesis (of PyPI, in an environment that is
thrown away) call every operation as nobody, as an agent and as the admin. Bounded in time; needs the network once.

    cargo build --package arena-cli
    tests/api/schemathesis.py [--arena target/debug/arena] [--seconds 60]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import urllib.request
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCHEMATHESIS = "schemathesis==4.32.5"
TOKEN = "7f1d0c7e5b3a29461f7e0d9c8b5a4321"
RATES = [
    "requests_per_minute",
    "burst",
    "anonymous_per_second",
    "play_per_second",
    "play_burst",
    "submits_per_minute",
    "failures_per_minute",
    "uploads_per_hour",
    "keys_per_hour",
]
# Streams do not end, components are no JSON, and a server that is to be called on does not hand its keys back.
LEFT_OUT = r"^/api/v1/(events|events\.ndjson|keys/\{key_id\}|strategies)$"
# A body that the schema allows may still be refused: references, order, time and money are no schema's.
CHECKS_LEFT_OUT = "positive_data_acceptance"


class Failure(Exception):
    """Why nothing was found out."""


def ask(url, method, path, headers, body):
    request = urllib.request.Request(url + path, method=method, data=json.dumps(body).encode())
    request.add_header("content-type", "application/json")
    for name, value in headers.items():
        request.add_header(name, value)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def serve(arena, folder):
    """The server and where it listens."""
    config, token = folder / "arena.toml", folder / "token"
    config.write_text("[limits]\n" + "".join(f"{rate} = 1000000\n" for rate in RATES))
    token.write_text(TOKEN)
    command = [arena, "serve", "--demo", "--listen", "127.0.0.1:0", "--json", "--data", folder / "data"]
    command += ["--config", config, "--admin-token", token]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    line = server.stdout.readline()
    if not line:
        server.kill()
        raise Failure(f"{arena} does not serve")
    return server, json.loads(line)["url"]


def environment(folder, pip_args):
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *pip_args, SCHEMATHESIS]
    if subprocess.run(pip, check=False).returncode != 0:
        raise Failure("cannot install schemathesis")
    return folder / "venv" / "bin" / "schemathesis"


def call(program, url, name, headers, seconds, seed):
    """Whether one caller found no fault."""
    # What is told here is sent with every request, also where Schemathesis means to leave it out.
    left_out = CHECKS_LEFT_OUT + (",missing_required_header,ignored_auth" if headers else "")
    command = [program, "run", f"{url}/openapi.json", "--url", url, "--seed", str(seed), "--no-color"]
    command += ["--max-time", str(seconds)]
    command += ["--exclude-path-regex", LEFT_OUT, "--exclude-checks", left_out]
    command += ["--request-timeout", "20", "--max-failures", "40"]
    for header, value in headers.items():
        command += ["--header", f"{header}: {value}"]
    print(f"== as {name}", flush=True)
    return subprocess.run(command, check=False, cwd=program.parent).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arena", default=ROOT / "target/debug/arena", help="the binary")
    parser.add_argument("--url", help="a server that runs already, with the token and limits of this script")
    parser.add_argument("--schemathesis", type=Path, help="an installed program, instead of one from PyPI")
    parser.add_argument("--seconds", type=int, default=40, help="for each of the three callers")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pip-arg", action="append", default=[], metavar="ARG", help="for `pip install`")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="arena-schemathesis-") as place:
        folder = Path(place)
        program = args.schemathesis or environment(folder, args.pip_arg)
        server, url = (None, args.url) if args.url else serve(args.arena, folder)
        try:
            admin = {"x-admin-token": TOKEN}
            scopes = {"scopes": ["read", "play", "submit", "judge"]}
            key = ask(url, "POST", "/api/v1/agents/bees/keys", admin, scopes)["key"]
            callers = [("nobody", {}), ("an agent", {"authorization": f"Bearer {key}"}), ("the admin", admin)]
            fine = [call(program, url, name, headers, args.seconds, args.seed) for name, headers in callers]
        finally:
            if server:
                server.terminate()
                server.wait()
    return 0 if all(fine) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Failure, OSError) as why:
        print(f"error: {why}", file=sys.stderr)
        sys.exit(2)
