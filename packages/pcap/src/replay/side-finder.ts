import { latin1 } from '../bytes.ts';
import { FlowTable } from '../dissect/flow-table.ts';
import { ACK, type Frame, SYN, TCP } from '../dissect/frame.ts';
import { isClientA } from '../sessions/client-side.ts';
import { findEnds } from './frame-ends.ts';

/** What a flow has shown so far: 1 stands for A, 2 for B, 0 for neither. */
interface FlowMark {
  synFrom: 0 | 1 | 2;
  synAckFrom: 0 | 1 | 2;
  isFirstPacketFromA: boolean;
}

/** Decides for every packet whether client or server sent it: by its session, else by its addresses. */
export class SideFinder {
  readonly #flows = new FlowTable();
  readonly #marks: FlowMark[] = [];
  readonly #isClientA: boolean[] = [];
  readonly #clients = new Set<string>();
  readonly #servers = new Set<string>();
  /** Whether the lower of two addresses is the client. */
  readonly #isLowerClient = new Map<string, boolean>();
  #clientIp: string | undefined;

  /** To be called with every packet before `settle`. */
  see(frame: Frame): void {
    if (!frame.hasPorts) return;
    const found = this.#flows.find(frame);
    const { isFromA } = this.#flows;
    const mark = this.#marks[found] ?? { synFrom: 0, synAckFrom: 0, isFirstPacketFromA: isFromA };
    if (found === -1) {
      this.#flows.assign(this.#marks.length);
      this.#marks.push(mark);
    }
    if (frame.protocol !== TCP || (frame.flags & SYN) === 0) return;
    const sender = isFromA ? 1 : 2;
    if ((frame.flags & ACK) === 0) mark.synFrom ||= sender;
    else mark.synAckFrom ||= sender;
  }

  /** Decides all flows; `clientIp` overrides handshakes. */
  settle(clientIp: Uint8Array | undefined): void {
    this.#clientIp = clientIp && latin1(clientIp, 0, clientIp.length);
    for (const [index, mark] of this.#marks.entries()) {
      const key = this.#flows.keyOf(index);
      const isA = isClientA(mark, key, { clientIp, clientIpOverrides: true });
      this.#isClientA.push(isA);
      const [a, b] = [key.addressA, key.addressB].map((address) => latin1(address, 0, address.length)) as [
        string,
        string,
      ];
      this.#clients.add(isA ? a : b);
      this.#servers.add(isA ? b : a);
      const pair = pairOf(a, b);
      if (!this.#isLowerClient.has(pair)) this.#isLowerClient.set(pair, isA === a < b);
    }
  }

  /** Index of the flow of a packet; −1 where it has none of its own. */
  flowOf(frame: Frame): number {
    return frame.hasPorts ? this.#flows.find(frame) : -1;
  }

  isFromClient(frame: Frame): boolean {
    // Later fragments have no ports: all fragments are judged by their addresses, so that they stay together.
    if (frame.hasPorts && !frame.isFragment) {
      const flow = this.#flows.find(frame);
      if (flow !== -1) return this.#isClientA[flow] === this.#flows.isFromA;
    }
    const ends = findEnds(frame);
    if (ends === undefined) return true;
    const [sender, receiver] = [ends.source, ends.destination].map((at) => latin1(frame.bytes, at, at + ends.size)) as [
      string,
      string,
    ];
    if (this.#clientIp !== undefined && (sender === this.#clientIp) !== (receiver === this.#clientIp)) {
      return sender === this.#clientIp;
    }
    return this.#isSenderClient(sender, receiver);
  }

  #isSenderClient(sender: string, receiver: string): boolean {
    const pair = pairOf(sender, receiver);
    const known = this.#isLowerClient.get(pair);
    if (known !== undefined) return known === sender < receiver;
    const isClient = this.#judge(sender, receiver);
    this.#isLowerClient.set(pair, isClient === sender < receiver);
    return isClient;
  }

  #judge(sender: string, receiver: string): boolean {
    const isOnlyClient = (address: string) => this.#clients.has(address) && !this.#servers.has(address);
    if (isOnlyClient(sender)) return true;
    if (isOnlyClient(receiver)) return false;
    if (this.#servers.has(sender)) return false;
    // Neither side is known as a client: the first sender counts as one.
    return true;
  }
}

function pairOf(one: string, other: string): string {
  return one < other ? `${one}|${other}` : `${other}|${one}`;
}
