"""Reads frames, one line of hexadecimal digits each, and prints what scapy makes of each as a line of JSON."""

import json
import sys

from scapy.all import Ether, Padding, Raw, conf
from scapy.contrib import lacp  # noqa: F401: binds the slow protocols to their EtherType
from scapy.layers import dhcp6, eap, inet6, l2, ppp  # noqa: F401

conf.verb = 0
derived = {"chksum", "cksum", "len", "plen", "optlen", "msglen"}


def layers_of(packet):
    found = []
    while packet:
        found.append(packet)
        packet = packet.payload
    return found


def summary_of(value):
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (list, tuple)):
        return [summary_of(one) for one in value]
    if hasattr(value, "fields"):
        return [value.__class__.__name__, {name: summary_of(one) for name, one in value.fields.items()}]
    return value if isinstance(value, (int, str)) or value is None else str(value)


def without_padding(raw):
    """What scapy would take as options of PPP that it does not know is filling of the Ethernet frame."""
    if raw[12:14] not in (b"\x88\x63", b"\x88\x64"):
        return raw
    return raw[: 20 + int.from_bytes(raw[18:20], "big")]


def rebuilt(raw):
    """The bytes that scapy writes for the same values, with lengths and checksums of its own."""
    packet = Ether(raw)
    if packet.haslayer("PPP") and packet["PPP"].proto < 0x100:
        # It would write the number of the protocol in one byte.
        return raw[:22] + written(packet["PPP"].payload)
    return written(packet)


def written(packet):
    copy = packet.copy()
    copy.clear_cache()
    for layer in layers_of(copy):
        for name in derived:
            if name in layer.fields and not (name == "len" and layer.fields[name] == 0):
                layer.delfieldval(name)
    return bytes(copy)


for line in sys.stdin:
    raw = without_padding(bytes.fromhex(line.strip()))
    packet = Ether(raw)
    layers = layers_of(packet)
    unread = b"".join(bytes(layer.load) for layer in layers if isinstance(layer, (Raw, Padding)))
    print(
        json.dumps(
            {
                "layers": [layer.__class__.__name__ for layer in layers],
                "fields": [summary_of(layer)[1] for layer in layers],
                "unread": unread.hex(),
                "isSame": rebuilt(raw) == raw,
            }
        )
    )
