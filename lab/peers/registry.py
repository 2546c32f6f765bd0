"""The readers of a comparison by name; this portal comes last, as its pages are compared with the others'."""

from lab.peers.base import Peer
from lab.peers.freshrss import FreshRSS
from lab.peers.newsboat import Newsboat
from lab.peers.ours import Ours
from lab.peers.reader import Reader

PEERS: dict[str, type[Peer]] = {peer.name: peer for peer in (Newsboat, Reader, FreshRSS, Ours)}
