import type { TcpConnection } from './connection.ts';
import type { TcpContext } from './context.ts';
import { flowWords, portsWord } from './segment/flow-key.ts';
import { createTimeWaitRecord } from './time-wait.ts';

const timeWaitReuseMs = 1000;
const attempts = 64;

/** Ports of connections that we open: free ones, and those of flows in TIME-WAIT that may be taken over. */
export class LocalPorts {
  readonly #context: TcpContext;
  readonly #waiting = createTimeWaitRecord();
  #next: number;

  constructor(context: TcpContext, random: () => number) {
    this.#context = context;
    this.#next = Math.floor(random() * 0x4000);
  }

  /** Sets a free local port of the dynamic range in the key (RFC 6056, algorithm 3). */
  choose(key: Int32Array): boolean {
    const { hash, flows, timeWait } = this.#context;
    const ports = key[portsWord] as number;
    const first = hash.of(key, 0, flowWords, 3) >>> 0;
    for (let attempt = 0; attempt < attempts; attempt++) {
      const port = 0x8000 + ((first + this.#next++) % 0x7000);
      key[portsWord] = (port << 16) | (ports & 0xffff);
      if (flows.find(key, 0) >= 0) continue;
      const waiting = timeWait.find(key, 0);
      if (waiting < 0 || this.canReuse(waiting)) return true;
    }
    key[portsWord] = ports;
    return false;
  }

  /** Our own new connection may take over a flow in TIME-WAIT whose timestamps prove what is old. */
  canReuse(slot: number): boolean {
    const record = this.#waiting;
    this.#context.timeWait.read(slot, record);
    return record.hasTimestamps && this.#context.nowMs - record.tsRecentAt > timeWaitReuseMs;
  }

  /** Takes over the flow that `canReuse` was asked about last. */
  takeOver(c: TcpConnection, slot: number): void {
    c.iss = (this.#waiting.sndNxt + 0x10001) | 0;
    c.sndUna = c.iss;
    c.sndNxt = (c.iss + 1) | 0;
    c.queueEnd = c.sndNxt;
    this.#context.timeWait.remove(slot);
  }
}
