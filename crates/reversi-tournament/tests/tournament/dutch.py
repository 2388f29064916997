"""Plays Swiss tournaments of single games, paired by the Dutch system of py4swiss.

Reads a tournament a line: the number of rounds, then a word a player with its points against each other, in halves.
The players are in the order of their ratings. Writes for each tournament the number of pairs and the sum of the
differences of their scores, in halves; or "failed" if a round cannot be paired.
"""

import sys

from py4swiss.engines import DutchEngine
from py4swiss.engines.common import PairingError
from py4swiss.trf import ParsedTrf
from py4swiss.trf.codes import PlayerCode
from py4swiss.trf.results import ColorToken, ResultToken, RoundResult
from py4swiss.trf.sections import PlayerSection, XSection

RESULTS = [ResultToken.LOSS, ResultToken.DRAW, ResultToken.WIN]
BYE = RoundResult(id=0, color=ColorToken.BYE_OR_NOT_PAIRED, result=ResultToken.PAIRING_ALLOCATED_BYE)


def play(rounds: int, points: list[str]) -> str:
    players = [
        PlayerSection(code=PlayerCode.PLAYER, starting_number=number, points_times_ten=0, rank=number)
        for number in range(1, len(points) + 1)
    ]
    tournament = ParsedTrf(player_sections=players, x_section=XSection(number_of_rounds=rounds))

    def add(player: PlayerSection, result: RoundResult, halves: int) -> None:
        player.results.append(result)
        player.points_times_ten += 5 * halves

    pairs = gaps = 0
    for _ in range(rounds):
        try:
            pairing = DutchEngine.generate_pairings(tournament)
        except PairingError:
            return "failed"
        for pair in pairing:
            white = players[pair.white - 1]
            if pair.black == 0:
                add(white, BYE, 2)
                continue
            black = players[pair.black - 1]
            pairs += 1
            gaps += abs(white.points_times_ten - black.points_times_ten) // 5
            won = int(points[pair.white - 1][pair.black - 1])
            add(white, RoundResult(id=pair.black, color=ColorToken.WHITE, result=RESULTS[won]), won)
            add(black, RoundResult(id=pair.white, color=ColorToken.BLACK, result=RESULTS[2 - won]), 2 - won)
    return f"{pairs} {gaps}"


for line in sys.stdin:
    rounds, *points = line.split()
    print(play(int(rounds), points))
