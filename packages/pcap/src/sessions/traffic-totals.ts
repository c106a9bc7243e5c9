import { type Frame, TCP, UDP } from '../dissect/frame.ts';
import { isTunnelProtocol } from '../dissect/tunnel.ts';
import type { Packet } from '../read/packet.ts';

/** What is counted packet by packet over a whole capture. */
export class TrafficTotals {
  packets = 0;
  wireBytes = 0;
  capturedBytes = 0;
  firstSeconds = 0;
  firstNanoseconds = 0;
  earliestMs = 0;
  latestMs = 0;
  readonly linkTypes = new Map<number, number>();
  v4 = 0;
  v6 = 0;
  vlan = 0;
  fragments = 0;
  notIp = 0;
  snapLenCut = 0;
  unsupportedLink = 0;
  notTcpUdp = 0;
  /** GRE and IP-in-IP packets without a TCP or UDP packet inside. */
  closedTunnels = 0;
  /** Packets that belong to a session inside a tunnel. */
  tunnelled = 0;
  /** TCP and UDP packets whose header is cut or invalid. */
  badHeaders = 0;
  /** Packets of sessions beyond the limit. */
  unassigned = 0;
  #linkType = -1;
  #linkPackets = 0;

  count(packet: Packet, frame: Frame, nowMs: number): void {
    if (this.packets === 0) {
      this.firstSeconds = packet.seconds;
      this.firstNanoseconds = packet.nanoseconds;
    }
    this.packets++;
    this.wireBytes += packet.wireLength;
    this.capturedBytes += packet.length;
    if (nowMs > this.latestMs) this.latestMs = nowMs;
    else if (nowMs < this.earliestMs) this.earliestMs = nowMs;
    if (packet.length < packet.wireLength) this.snapLenCut++;
    if (packet.linkType !== this.#linkType) this.#switchTo(packet.linkType);
    this.#linkPackets++;
    this.#countLayers(frame);
  }

  /** Brings `linkTypes` up to date. */
  finish(): void {
    this.#switchTo(-1);
  }

  #countLayers(frame: Frame): void {
    if (!frame.isLinkKnown) this.unsupportedLink++;
    if (frame.vlanTags > 0) this.vlan++;
    if (frame.ipVersion === 4) this.v4++;
    else if (frame.ipVersion === 6) this.v6++;
    else this.notIp++;
    if (frame.isFragment) this.fragments++;
    if (frame.isLinkKnown && (frame.isFragment || frame.ipVersion === 0) && !hasSessions(frame)) this.notTcpUdp++;
  }

  /** Counts a whole IP packet that belongs to no session. */
  countUnread(frame: Frame): void {
    if (frame.ipVersion === 0) return;
    if (frame.protocol === TCP || frame.protocol === UDP) {
      this.badHeaders++;
      return;
    }
    if (isTunnelProtocol(frame.protocol)) this.closedTunnels++;
    this.notTcpUdp++;
  }

  #switchTo(linkType: number): void {
    if (this.#linkPackets > 0) {
      this.linkTypes.set(this.#linkType, (this.linkTypes.get(this.#linkType) ?? 0) + this.#linkPackets);
    }
    this.#linkType = linkType;
    this.#linkPackets = 0;
  }
}

/** Whether sessions may be found in an IP packet: TCP, UDP or a tunnel. */
function hasSessions(frame: Frame): boolean {
  const { ipVersion, protocol } = frame;
  return ipVersion !== 0 && (protocol === TCP || protocol === UDP || isTunnelProtocol(protocol));
}
