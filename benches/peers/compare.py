#!/usr/bin/env python3
"""Rounds of the iterated prisoner's dilemma per second of CPU: Arena beside OpenSpiel and Axelrod.

Everything is measured in one run, in turns, on one core each. See README.md for what a figure holds.
"""

import argparse
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).resolve()
ROOT = HERE.parents[2]

# What `tournaments/axelrod.toml` plays: each pair once, a strategy against itself included, ten times.
STRATEGIES = 11
REPETITIONS = 10
ROUNDS = 200
GAMES = STRATEGIES * (STRATEGIES + 1) // 2 * REPETITIONS

PACKAGES = {"open_spiel": "2.0.2", "axelrod": "4.14.0"}
# What is measured, and of which package.
PEERS = {
    "openspiel-state": "open_spiel",
    "openspiel": "open_spiel",
    "openspiel-bare": "open_spiel",
    "axelrod": "axelrod",
}
NAMES = {
    "arena": "Arena",
    "arena-cold": "Arena, strategies compiled anew",
    "openspiel-state": "OpenSpiel, two strategies that look at the state",
    "openspiel": "OpenSpiel, two strategies that are handed the last actions",
    "openspiel-bare": "OpenSpiel, moves known before",
    "axelrod": "Axelrod, serial tournament",
}


class Failure(Exception):
    """Why there is no figure."""


def cpu_seconds(who):
    """User and system time of this process or of the children it waited for."""
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


# ---- within a peer's environment: `compare.py --worker NAME` ----


def tit_for_tat(own, other):
    """Repeats the other's last action; 0 cooperates, 1 defects."""
    return other


def win_stay_lose_shift(own, other):
    """Keeps its action if the other cooperated, else changes it."""
    return own if other == 0 else 1 - own


def play_openspiel():
    """A repeated matrix_pd between two strategies that are functions of both last actions."""
    return openspiel(lambda first, second: (tit_for_tat(first, second), win_stay_lose_shift(second, first)))


def play_openspiel_state():
    """The same between two that find everything in the state, as OpenSpiel's bots do: what may be played
    and what was played."""
    import pyspiel

    game = pyspiel.load_game(f"repeated_game(stage_game=matrix_pd(),num_repetitions={ROUNDS})")
    first_bot = bot(0, 0, tit_for_tat)
    second_bot = bot(1, 1, win_stay_lose_shift)
    started = cpu_seconds(resource.RUSAGE_SELF)
    for _ in range(GAMES):
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_actions([first_bot(state), second_bot(state)])
        returns = state.returns()
    used = cpu_seconds(resource.RUSAGE_SELF) - started
    if returns != expected_returns():
        raise Failure(f"the last game of OpenSpiel ended as {state}")
    return used


def bot(player, opening, strategy):
    """A strategy as a function of the state."""

    def step(state):
        legal = state.legal_actions(player)
        history = state.history()
        action = strategy(history[-2 + player], history[-1 - player]) if history else opening
        return action if action in legal else legal[0]

    return step


def play_openspiel_bare():
    """The same games without a strategy: the actions are known before, and nothing is called."""
    return openspiel(None)


def openspiel(respond):
    import pyspiel

    game = pyspiel.load_game(f"repeated_game(stage_game=matrix_pd(),num_repetitions={ROUNDS})")
    script = actions()
    started = cpu_seconds(resource.RUSAGE_SELF)
    for _ in range(GAMES):
        state = game.new_initial_state()
        if respond:
            first, second = 0, 1
            for _ in range(ROUNDS):
                state.apply_actions([first, second])
                first, second = respond(first, second)
        else:
            for both in script:
                state.apply_actions(both)
        returns = state.returns()
    used = cpu_seconds(resource.RUSAGE_SELF) - started
    if not state.is_terminal() or returns != expected_returns():
        raise Failure(f"the last game of OpenSpiel ended as {state}")
    return used


def actions():
    """What both do in each round, from a first round in which the second defects."""
    rounds = [[0, 1]]
    while len(rounds) < ROUNDS:
        first, second = rounds[-1]
        rounds.append([tit_for_tat(first, second), win_stay_lose_shift(second, first)])
    return rounds


def expected_returns():
    """The same game without OpenSpiel, by the payoffs of matrix_pd."""
    payoffs = {(0, 0): (5, 5), (0, 1): (0, 10), (1, 0): (10, 0), (1, 1): (1, 1)}
    return [float(sum(points)) for points in zip(*(payoffs[tuple(both)] for both in actions()))]


def play_axelrod():
    """The tournament of the same eleven strategies, in one process."""
    import axelrod

    players = [
        axelrod.Alternator(),
        axelrod.Bully(),
        axelrod.Cooperator(),
        axelrod.Defector(),
        axelrod.Grudger(),
        axelrod.HardTitForTat(),
        axelrod.Random(),
        axelrod.SuspiciousTitForTat(),
        axelrod.TitFor2Tats(),
        axelrod.TitForTat(),
        axelrod.WinStayLoseShift(),
    ]
    started = cpu_seconds(resource.RUSAGE_SELF)
    tournament = axelrod.Tournament(players, turns=ROUNDS, repetitions=REPETITIONS, seed=1)
    tournament.play(processes=None, progress_bar=False)
    used = cpu_seconds(resource.RUSAGE_SELF) - started
    if tournament.num_interactions != GAMES:
        raise Failure(f"Axelrod played {tournament.num_interactions} games, not {GAMES}")
    return used


WORKERS = {
    "openspiel-state": play_openspiel_state,
    "openspiel": play_openspiel,
    "openspiel-bare": play_openspiel_bare,
    "axelrod": play_axelrod,
}


# ---- the contestants, as the parent sees them ----


def run_measured(command, **options):
    """Runs `command` to its end; the CPU time of its whole tree of processes, and what it printed."""
    before = cpu_seconds(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, **options)
    except OSError as why:
        raise Failure(f"cannot run {command[0]}: {why}") from why
    used = cpu_seconds(resource.RUSAGE_CHILDREN) - before
    if done.returncode != 0:
        said = "\n".join((done.stderr or done.stdout).strip().splitlines()[-15:])
        raise Failure(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{said}")
    return used, done.stdout


class Arena:
    """`arena tournament run`: freezing, playing, records, validation, scorecard and receipt."""

    def __init__(self, key, binary, plan, runs):
        self.key, self.binary, self.plan, self.runs = key, binary, plan, runs
        self.version = run_measured([binary, "--version"])[1].split("\n")[0].strip()

    def measure(self):
        # Runs stay until everything is measured: on ext4, a file that is made soon after many were deleted
        # costs its maker a search for an inode that has been free for long enough.
        folder = Path(tempfile.mkdtemp(dir=self.runs))
        # Compiled strategies are a cache that may be deleted at any time.
        cache = (folder if self.key == "arena-cold" else self.runs) / "cache"
        out = folder / "run"
        command = [self.binary, "tournament", "run", self.plan, "--workers", "1", "--out", out]
        used, _ = run_measured(command, cwd=ROOT, env={**os.environ, "ARENA_CACHE": str(cache)})
        # Nothing is taken off for starting and freezing.
        return {"rounds": self.rounds_of(out), "play": used, "process": used}

    @staticmethod
    def rounds_of(out):
        """What was played, by the run's own files."""
        receipts, frozen = list(out.rglob("receipt.json")), list(out.rglob("frozen.json"))
        if len(receipts) != 1 or len(frozen) != 1:
            raise Failure(f"{out} does not hold one run")
        terminal = json.loads(receipts[0].read_bytes())["terminal"]
        if terminal != "success":
            raise Failure(f"the tournament ended as {terminal}")
        matchups = json.loads(frozen[0].read_bytes())["matchups"]
        return sum(matchup["scenario"]["rounds"] for matchup in matchups)


class Peer:
    """A Python library in an environment of its own."""

    def __init__(self, key, python):
        self.key, self.python = key, python
        ask = f"from importlib.metadata import version; print(version({PEERS[key]!r}))"
        self.version = f"{PEERS[key]} {run_measured([python, '-c', ask])[1].strip()}"

    def measure(self):
        # Libraries below numpy start a thread for each core, which is not what is compared.
        single = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        command = [self.python, HERE, "--worker", self.key]
        used, said = run_measured(command, env={**os.environ, **single})
        return {"rounds": GAMES * ROUNDS, "play": json.loads(said)["cpu_seconds"], "process": used}


def python_of(environments, package, pip_args):
    """The interpreter of an environment that holds the package; it is made if there is none."""
    environment = environments / package
    python = environment / "bin" / "python"
    if not python.exists():
        talk(f"installing {package} into {environment}")
        venv.create(environment, with_pip=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run_measured([*pip, *pip_args, f"{package}=={PACKAGES[package]}"])
    return python


# ---- the comparison ----


def talk(text):
    print(text, file=sys.stderr, flush=True)


def compare(contestants, repetitions):
    """One round that does not count, then each in turn, and another one first each time."""
    for contestant in contestants:
        talk(f"warming up: {NAMES[contestant.key]}")
        contestant.measure()
    samples = {contestant.key: [] for contestant in contestants}
    for repetition in range(repetitions):
        first = repetition % len(contestants)
        for contestant in contestants[first:] + contestants[:first]:
            sample = contestant.measure()
            samples[contestant.key].append(sample)
            rate = sample["rounds"] / sample["play"]
            done = f"{repetition + 1}/{repetitions}  {NAMES[contestant.key]}"
            talk(f"{done}: {grouped(rate)} rounds per CPU-second")
    return samples


def summary(contestant, samples):
    def rates(of):
        return [sample["rounds"] / sample[of] for sample in samples]

    play = rates("play")
    return {
        "version": contestant.version,
        "rounds": samples[0]["rounds"],
        "rounds_per_cpu_second": statistics.median(play),
        "lowest": min(play),
        "highest": max(play),
        "whole_process_rounds_per_cpu_second": statistics.median(rates("process")),
        "samples": samples,
    }


def machine():
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    system, python = platform.platform(), platform.python_version()
    return {"cpu": model, "cores": os.cpu_count(), "system": system, "python": python}


def report(contestants, samples):
    results = {contestant.key: summary(contestant, samples[contestant.key]) for contestant in contestants}
    document = {"machine": machine(), "results": results}
    if "arena" in results:
        others = [key for key in results if key != "arena"]
        document["arena_times_as_fast_as"] = {key: ratio(samples["arena"], samples[key]) for key in others}
    return document


def ratio(ours, theirs):
    """Of the rates, within each repetition: what slows the machine down slows both."""
    pairs = zip(ours, theirs)
    rates = ([sample["rounds"] / sample["play"] for sample in pair] for pair in pairs)
    return statistics.median(our / their for our, their in rates)


def grouped(number):
    return f"{number:,.0f}".replace(",", " ")


def table(document):
    ratios = document.get("arena_times_as_fast_as", {})
    head = ("version", "rounds", "rounds per CPU-second", "lowest – highest", "with start-up", "Arena is")
    rows = [("", *head)]
    for key, result in document["results"].items():
        spread = f"{grouped(result['lowest'])} – {grouped(result['highest'])}"
        whole = grouped(result["whole_process_rounds_per_cpu_second"])
        ratio = f"{ratios[key]:.2f} times as fast" if key in ratios else ""
        rate = grouped(result["rounds_per_cpu_second"])
        rows.append((NAMES[key], result["version"], grouped(result["rounds"]), rate, spread, whole, ratio))
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = []
    for name, *figures in rows:
        cells = [name.ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(figures, widths[1:])]
        lines.append("  ".join(cells).rstrip())
    held = document["machine"]
    where = f"{held['cores']} cores of {held['cpu']}, Python {held['python']}"
    lines.append(f"\nmedians of the repetitions; {where}")
    return "\n".join(lines)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arena", type=Path, default=ROOT / "target/dist/arena", help="the binary")
    parser.add_argument("--plan", type=Path, default=ROOT / "tournaments/axelrod.toml", help="the tournament")
    parser.add_argument("--no-arena", action="store_true", help="measure the peers only")
    parser.add_argument("--axelrod", action="store_true", help="Axelrod too; it installs about 6 GB")
    kept = "keep the environments there, and use them again"
    parser.add_argument("--environments", type=Path, metavar="DIR", help=kept)
    for_pip = "for `pip install`; may be repeated"
    parser.add_argument("--pip-arg", action="append", default=[], metavar="ARG", help=for_pip)
    parser.add_argument("--repetitions", type=int, default=5, metavar="N", help="of each (default: 5)")
    parser.add_argument("--json", action="store_true", help="print the figures and all samples as JSON")
    parser.add_argument("--worker", choices=WORKERS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.repetitions < 1:
        parser.error("--repetitions must be at least 1")
    return args


def measure_all(args, environments, runs):
    contestants = []
    if not args.no_arena:
        binary, plan = args.arena.resolve(), args.plan.resolve()
        contestants += [Arena(key, binary, plan, runs) for key in ("arena", "arena-cold")]
    for key, package in PEERS.items():
        if args.axelrod or package != "axelrod":
            contestants.append(Peer(key, python_of(environments, package, args.pip_arg)))
    document = report(contestants, compare(contestants, args.repetitions))
    print(json.dumps(document, indent=2) if args.json else table(document))


def main():
    args = arguments()
    if args.worker:
        print(json.dumps({"cpu_seconds": WORKERS[args.worker]()}))
        return
    scratch = Path(tempfile.mkdtemp(prefix="arena-peers-"))
    runs = scratch / "runs"
    try:
        runs.mkdir()
        measure_all(args, args.environments.resolve() if args.environments else scratch, runs)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    try:
        main()
    except Failure as why:
        sys.exit(f"error: {why}")
    except KeyboardInterrupt:
        sys.exit(130)
