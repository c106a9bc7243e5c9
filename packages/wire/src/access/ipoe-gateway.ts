import type { Memory } from '../bytes/memory.ts';
import { ArpMessage, arpBytes, arpOperation, writeArp } from '../ethernet/arp.ts';
import { copyMac, etherType, isSameMac, macBytes } from '../ethernet/ethernet.ts';
import { icmp4Type } from '../icmp/icmp.ts';
import { ipProtocol } from '../ip/header-fields.ts';
import { Ipv4Header, ipv4Bytes } from '../ip/ipv4.ts';
import { udpBytes } from '../udp/udp.ts';
import type { AdmittedClient } from './dhcp/admission.ts';
import { dhcpPort } from './dhcp/message.ts';
import { DhcpServer, type DhcpServerOptions } from './dhcp/server.ts';
import { icmpTypeOf, writeEchoReply } from './echo.ts';
import type { FrameWriter } from './frames.ts';
import type { RadiusClient } from './radius/client.ts';

export interface IpoeGatewayHost {
  readonly frames: FrameWriter;
  /** Answers of DHCP, which may be delayed. */
  readonly dhcpFrames: FrameWriter;
  readonly mac: Uint8Array;
  /** A lease is confirmed, or over. */
  onLease?: ((lease: number, isActive: boolean) => void) | undefined;
  readonly radius?: RadiusClient | undefined;
  readonly random?: () => number;
  /** A client has been let in or refused by the RADIUS server. */
  onAdmission?: ((client: AdmittedClient) => void) | undefined;
  /** An IP packet that is not for the gateway itself. */
  onPacket?(memory: Memory, start: number, end: number): void;
}

/** The gateway of subscribers without PPP: hands out addresses and answers ARP and echoes in every VLAN. */
export class IpoeGateway {
  readonly dhcp: DhcpServer;
  readonly counters = { arpAnswered: 0, echoAnswered: 0 };
  readonly #host: IpoeGatewayHost;
  readonly #address: number;
  readonly #arp = new ArpMessage();
  readonly #ip = new Ipv4Header();
  readonly #peerMac = new Uint8Array(macBytes);

  constructor(host: IpoeGatewayHost, options: DhcpServerOptions) {
    this.#host = host;
    this.#address = options.router;
    const { dhcpFrames: frames, mac, onLease, radius, random, onAdmission } = host;
    this.dhcp = new DhcpServer({ frames, mac, radius, random, onAdmission, ...(onLease && { onLease }) }, options);
  }

  /** The payload [header.payload, end) of an Ethernet frame whose addresses stand at `frame`. */
  receive(memory: Memory, frame: number, header: { type: number; payload: number; tags: number }, end: number): void {
    if (header.type === etherType.arp) this.#receiveArp(memory, header.payload, end, header.tags);
    else if (header.type === etherType.ipv4) this.#receiveIp(memory, frame, header, end);
  }

  /** Where an IP packet to a subscriber is written, or -1. */
  begin(lease: number, length: number): number {
    return this.#host.frames.begin(lease, length);
  }

  /** Sends the IPv4 packet [at, end) to a subscriber. */
  sendPacket(lease: number, at: number, end: number): void {
    const { frames, mac } = this.#host;
    this.dhcp.writeClientMac(lease, this.#peerMac, 0);
    const route = { path: lease, tags: this.dhcp.tagsOf(lease), sourceMac: mac, destinationMac: this.#peerMac };
    frames.send(at, end, etherType.ipv4, route);
  }

  #receiveArp(memory: Memory, start: number, end: number, tags: number): void {
    const arp = this.#arp;
    if (!arp.parse(memory, start, end) || arp.operation !== arpOperation.request || arp.target !== this.#address)
      return;
    const { frames, mac } = this.#host;
    copyMac(memory.bytes, arp.senderMacAt, this.#peerMac, 0);
    const at = frames.begin(0, arpBytes);
    if (at < 0) return;
    const { sender, target } = arp;
    const targetMac = this.#peerMac;
    writeArp(frames.memory, at, {
      operation: arpOperation.reply,
      sender: target,
      target: sender,
      targetMac,
      senderMac: mac,
    });
    this.counters.arpAnswered++;
    frames.send(at, at + arpBytes, etherType.arp, { path: 0, tags, sourceMac: mac, destinationMac: targetMac });
  }

  #receiveIp(memory: Memory, frame: number, { payload, tags }: { payload: number; tags: number }, end: number): void {
    const ip = this.#ip;
    const isForUs = isSameMac(memory.bytes, frame, this.#host.mac, 0) || ((memory.bytes[frame] as number) & 1) === 1;
    if (!isForUs || !ip.parse(memory, payload, end, true)) return;
    if (ip.destination !== this.#address && this.dhcp.leaseOf(ip.source) >= 0) {
      const isMulticast = ip.destination >>> 28 === 0xe || ip.destination === -1;
      if (!isMulticast) this.#host.onPacket?.(memory, payload, ip.end);
    }
    if (ip.isFragment) return;
    if (ip.protocol === ipProtocol.udp && ip.end - ip.payload >= udpBytes) {
      if (memory.view.getUint16(ip.payload + 2) === dhcpPort.server)
        this.dhcp.receive(memory, ip.payload + udpBytes, ip.end, { tags, macAt: frame + macBytes });
    } else if (ip.destination === this.#address && icmpTypeOf(memory, ip) === icmp4Type.echo)
      this.#answerEcho(memory, frame, tags);
  }

  #answerEcho(memory: Memory, frame: number, tags: number): void {
    const { frames, mac } = this.#host;
    const ip = this.#ip;
    const at = frames.begin(0, ip.end - ip.payload + ipv4Bytes);
    if (at < 0) return;
    copyMac(memory.bytes, frame + macBytes, this.#peerMac, 0);
    const end = writeEchoReply(frames, at, memory, ip);
    this.counters.echoAnswered++;
    frames.send(at, end, etherType.ipv4, { path: 0, tags, sourceMac: mac, destinationMac: this.#peerMac });
  }
}
