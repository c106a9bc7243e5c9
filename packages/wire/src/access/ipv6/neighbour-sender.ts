import { copyMac, macBytes } from '../../ethernet/ethernet.ts';
import { icmp6Type } from '../../icmp/icmp.ts';
import {
  advertisementFlags,
  neighbourBodyBytes,
  solicitedNode,
  writeNeighbourBody,
} from '../../icmp/neighbour-discovery.ts';
import { isSameAddress, writeAddress6 } from '../../ip/address.ts';
import type { FrameRoute, FrameWriter } from '../frames.ts';
import type { LineDirectory } from '../lines.ts';
import { addressWords, allNodes, allRouters, PacketWriter6, unspecified, writeLinkLocal } from './packets.ts';

const echoBytes = 32;
const linkAddressBytes = 8;

/** The messages of neighbour discovery and the echoes that sessions send. */
export class NeighbourSender {
  readonly #packets: PacketWriter6;
  readonly #lines: LineDirectory;
  readonly #mac = new Uint8Array(macBytes);
  readonly #linkLocal = new Int32Array(addressWords);
  #echo = 0;

  constructor(frames: FrameWriter, lines: LineDirectory) {
    this.#packets = new PacketWriter6(frames);
    this.#lines = lines;
  }

  /** The link-local address of a session, valid until the next call. */
  linkLocalOf(session: number): Int32Array {
    this.#lines.writeMac(session, this.#mac, 0);
    writeLinkLocal(this.#mac, this.#linkLocal, 0);
    return this.#linkLocal;
  }

  solicitRouters(session: number): void {
    const packets = this.#packets;
    packets.setAddresses(this.linkLocalOf(session), 0, allRouters, 0);
    const message = { type: icmp6Type.routerSolicitation, word: 0, bodyBytes: linkAddressBytes };
    packets.sendIcmp(message, this.#routeOf(session, packets.multicastMac), (at) => {
      const { bytes, view } = packets.memory;
      view.setUint16(at, 0x0101);
      copyMac(this.#mac, 0, bytes, at + 2);
    });
  }

  /** Asks for the MAC of an address. */
  solicit(session: number, target: Int32Array, targetAt: number): void {
    const packets = this.#packets;
    packets.setAddresses(this.linkLocalOf(session), 0, unspecified, 0);
    solicitedNode(target, targetAt, packets.addresses, addressWords);
    const message = { type: icmp6Type.neighbourSolicitation, word: 0, bodyBytes: neighbourBodyBytes };
    packets.sendIcmp(message, this.#routeOf(session, packets.multicastMac), (at) => {
      writeNeighbourBody(packets.memory, at, { target, targetAt, mac: this.#mac, isSolicitation: true });
    });
  }

  /** Asks if another machine has an address: without a sender, and without the option that names one. */
  probe(session: number, target: Int32Array, targetAt: number): void {
    const packets = this.#packets;
    packets.setAddresses(unspecified, 0, unspecified, 0);
    solicitedNode(target, targetAt, packets.addresses, addressWords);
    const message = {
      type: icmp6Type.neighbourSolicitation,
      word: 0,
      bodyBytes: neighbourBodyBytes - linkAddressBytes,
    };
    packets.sendIcmp(message, this.#routeOf(session, packets.multicastMac), (at) => {
      writeAddress6(packets.memory.view, at, target, targetAt);
    });
  }

  /** Answers a solicitation for an address of a session; a sender without an address is answered through all nodes. */
  advertise(session: number, target: Int32Array, peer: { readonly words: Int32Array; readonly mac: Uint8Array }): void {
    const packets = this.#packets;
    const isProbe = isSameAddress(peer.words, 0, unspecified, 0);
    packets.setAddresses(target, 0, isProbe ? allNodes : peer.words, 0);
    const word = (isProbe ? 0 : advertisementFlags.solicited) | advertisementFlags.override;
    const message = { type: icmp6Type.neighbourAdvertisement, word, bodyBytes: neighbourBodyBytes };
    const route = this.#routeOf(session, isProbe ? packets.multicastMac : peer.mac);
    packets.sendIcmp(message, route, (at) => {
      writeNeighbourBody(packets.memory, at, { target, targetAt: 0, mac: this.#mac, isSolicitation: false });
    });
  }

  /** Sends an echo request; returns the bytes of its packet, 0 if it could not be sent. */
  sendEcho(
    session: number,
    {
      source,
      gateway,
      at,
      mac,
      dscp,
    }: { source: Int32Array; gateway: Int32Array; at: number; mac: Uint8Array; dscp: number },
  ): number {
    const packets = this.#packets;
    // A session that has only a prefix sends from its link-local address.
    if (source[at] === 0) packets.setAddresses(this.linkLocalOf(session), 0, gateway, at);
    else packets.setAddresses(source, at, gateway, at);
    this.#echo = (this.#echo + 1) & 0xffff;
    const word = (session << 16) | this.#echo;
    const message = { type: icmp6Type.echo, word, bodyBytes: echoBytes, tos: dscp << 2 };
    return packets.sendIcmp(message, this.#routeOf(session, mac)) ? 48 + echoBytes : 0;
  }

  #routeOf(session: number, destinationMac: Uint8Array): FrameRoute {
    this.#lines.writeMac(session, this.#mac, 0);
    return { path: session, tags: this.#lines.tagsOf(session), sourceMac: this.#mac, destinationMac };
  }
}
