import { CaptureWriter, ethernetFrame, tcpPacket, udpPacket } from '@rushhour/pcap';
import { channelsOf, type LibraryApplication, type Step } from './script.ts';

const segmentBytes = 1400;
const stepMs = 2;
const firstSecond = 1_700_000_000;
const [fin, syn, psh, ack] = [1, 2, 8, 16];
const nothing = new Uint8Array(0);
const clientAddress = '10.1.0.1';

/** Where a session is in the capture. */
interface SessionEnds {
  readonly protocol: 'tcp' | 'udp';
  readonly srcIp: string;
  readonly dstIp: string;
  readonly srcPort: number;
  readonly dstPort: number;
}

/** Every session has a client port of its own, above all server ports, and every application a server of its own. */
export const endsOf = (application: number, session: number, step: Step['channel']): SessionEnds => ({
  protocol: step.protocol,
  srcIp: clientAddress,
  dstIp: `10.2.0.${application + 1}`,
  srcPort: 60_000 + session,
  dstPort: step.port,
});

type Send = (packet: Uint8Array) => void;

/** One session as packets: TCP with handshake and close, or datagrams. */
class Conversation {
  readonly #ends: SessionEnds;
  readonly #send: Send;
  readonly #next = { client: 1000, server: 9000 };

  constructor(ends: SessionEnds, send: Send) {
    this.#ends = ends;
    this.#send = send;
  }

  open(): void {
    if (this.#ends.protocol === 'udp') return;
    this.#segment('client', nothing, syn);
    this.#next.client++;
    this.#segment('server', nothing, syn | ack);
    this.#next.server++;
    this.#segment('client', nothing, ack);
  }

  say(side: Step['side'], bytes: Uint8Array): void {
    if (this.#ends.protocol === 'udp') {
      this.#send(udpPacket(bytes, this.#direction(side)));
      return;
    }
    for (let at = 0; at < bytes.length; at += segmentBytes) {
      const piece = bytes.subarray(at, at + segmentBytes);
      this.#segment(side, piece, ack | psh);
      this.#next[side] += piece.length;
    }
  }

  close(): void {
    if (this.#ends.protocol === 'udp') return;
    this.#segment('client', nothing, fin | ack);
    this.#next.client++;
    this.#segment('server', nothing, fin | ack);
    this.#next.server++;
    this.#segment('client', nothing, ack);
  }

  #direction(side: Step['side']) {
    const { srcIp, dstIp, srcPort, dstPort } = this.#ends;
    return side === 'client'
      ? { src: srcIp, dst: dstIp, srcPort, dstPort }
      : { src: dstIp, dst: srcIp, srcPort: dstPort, dstPort: srcPort };
  }

  #segment(side: Step['side'], payload: Uint8Array, flags: number): void {
    const other = side === 'client' ? 'server' : 'client';
    const numbers = { seq: this.#next[side], ack: flags === syn ? 0 : this.#next[other], flags };
    this.#send(tcpPacket(payload, { ...this.#direction(side), ...numbers }));
  }
}

/** The capture with all sessions of the given applications, one application after the other. */
export const libraryCapture = (applications: readonly LibraryApplication[]): Uint8Array => {
  const writer = new CaptureWriter({ format: 'pcap', linkType: 1 });
  let elapsedMs = 0;
  let sessions = 0;
  const send = (packet: Uint8Array) => {
    const time = { seconds: firstSecond + Math.floor(elapsedMs / 1000), nanoseconds: (elapsedMs % 1000) * 1_000_000 };
    writer.add({ ...time, bytes: ethernetFrame(packet) });
  };
  applications.forEach((application, index) => {
    const open = new Map<Step['channel'], Conversation>();
    for (const { channel, side, bytes } of application.steps) {
      elapsedMs += stepMs;
      const known = open.get(channel) ?? new Conversation(endsOf(index, sessions, channel), send);
      if (!open.has(channel)) {
        open.set(channel, known);
        sessions++;
        known.open();
      }
      known.say(side, bytes);
    }
    for (const conversation of open.values()) conversation.close();
    elapsedMs += stepMs;
  });
  return writer.take();
};

/** Averages of an application as it was recorded. */
export const averagesOf = ({ steps }: LibraryApplication) => {
  const seconds = (steps.length * stepMs) / 1000;
  const bytes = steps.reduce((sum, step) => sum + step.bytes.length, 0);
  return { baseBps: Math.round((bytes * 8) / seconds), basePps: Math.round(steps.length / seconds) };
};

/** The sessions of an application as the capture has them; `first` is the index of its first session. */
export const librarySessions = (application: LibraryApplication, index: number, first: number) =>
  channelsOf(application).map((channel, position) => {
    const steps = application.steps.filter((step) => step.channel === channel);
    const bytesOf = (side: Step['side']) =>
      steps.filter((step) => step.side === side).reduce((sum, { bytes }) => sum + bytes.length, 0);
    return {
      name: application.name,
      ...endsOf(index, first + position, channel),
      bytesC2S: bytesOf('client'),
      bytesS2C: bytesOf('server'),
      exchangeCount: exchangesOf(steps),
      sessionIndex: first + position,
    };
  });

/** Client steps that follow a server step or the start; one more where the server speaks first. */
const exchangesOf = (steps: readonly Step[]): number =>
  steps.filter(({ side }, index) => side === 'client' && steps[index - 1]?.side !== 'client').length +
  (steps[0]?.side === 'server' ? 1 : 0);
