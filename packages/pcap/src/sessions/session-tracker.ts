import { dissect } from '../dissect/dissect.ts';
import { FlowTable } from '../dissect/flow-table.ts';
import { FragmentStore } from '../dissect/fragment-store.ts';
import { ACK, Frame, SYN, TCP, UDP } from '../dissect/frame.ts';
import { isTunnel, TunnelReader } from '../dissect/tunnel.ts';
import { millisecondsSince, type Packet } from '../read/packet.ts';
import { PayloadSink } from './payload-sink.ts';
import { finishFlow } from './reassembly.ts';
import { Session, startsOver } from './session.ts';
import type { StepRecorder } from './step-recorder.ts';
import { TcpConversation } from './tcp-conversation.ts';
import { TrafficTotals } from './traffic-totals.ts';

const NO_PACKETS: readonly number[] = [];

export interface TrackerOptions {
  readonly maxSessions: number;
  readonly fillGaps: boolean;
  /** Which sessions have their steps recorded. */
  readonly recorderFor?: (sessionIndex: number) => StepRecorder | null;
}

/** Sorts packets into sessions; sessions are numbered by their first packet. */
export class SessionTracker {
  readonly sessions: Session[] = [];
  readonly totals = new TrafficTotals();
  readonly flows = new FlowTable();
  /** Session of the packet added last, or -1. */
  lastSession = -1;
  /** Whether the packet added last repeated only what had been seen. */
  isLastDuplicate = false;
  /** Numbers of all packets whose fragments were completed by the packet added last. */
  lastFragments: readonly number[] = NO_PACKETS;
  readonly #options: TrackerOptions;
  readonly #frame = new Frame();
  readonly #tunnels = new TunnelReader();
  readonly #fragments = new FragmentStore();
  readonly #payload: PayloadSink;
  readonly #tcp: TcpConversation;
  #originSeconds = 0;
  #originNanoseconds = 0;

  constructor(options: TrackerOptions) {
    this.#options = options;
    this.#payload = new PayloadSink(options.fillGaps);
    this.#tcp = new TcpConversation(this.#payload);
  }

  add(packet: Packet): void {
    const frame = this.#frame;
    if (this.totals.packets === 0) {
      this.#originSeconds = packet.seconds;
      this.#originNanoseconds = packet.nanoseconds;
    }
    const nowMs = millisecondsSince(packet, this.#originSeconds, this.#originNanoseconds);
    this.lastSession = -1;
    this.isLastDuplicate = false;
    this.lastFragments = NO_PACKETS;
    dissect(frame, packet);
    this.totals.count(packet, frame, nowMs);
    if (!this.#isWhole(frame, packet, nowMs)) return;
    const inner = this.#tunnels.inside(frame);
    if (inner !== undefined) {
      this.totals.tunnelled++;
      if (!this.#isWhole(inner, packet, nowMs)) return;
    }
    const innermost = inner ?? frame;
    if (innermost.hasPorts) this.#assign(innermost, nowMs);
    else this.totals.countUnread(frame);
  }

  /** False while fragments of the datagram are missing; `frame` describes the whole datagram afterwards. */
  #isWhole(frame: Frame, packet: Packet, nowMs: number): boolean {
    if (!frame.isFragment) return true;
    if (!this.#fragments.add(frame, packet.number, nowMs)) return false;
    this.lastFragments = [...this.lastFragments, ...this.#fragments.completedPackets];
    return true;
  }

  /** End of input: delivers pending bytes and counts missing ones. */
  finish(): void {
    this.totals.finish();
    for (const session of this.sessions) {
      if (session.isTcp) {
        this.#payload.select(session, session.lastMs);
        finishFlow(session.a, this.#payload);
        finishFlow(session.b, this.#payload);
      }
      session.recorder?.finish();
      session.head = null;
    }
  }

  #assign(frame: Frame, nowMs: number): void {
    const found = this.flows.find(frame);
    let session = found === -1 ? undefined : this.sessions[found];
    const isNewSyn = frame.protocol === TCP && (frame.flags & (SYN | ACK)) === SYN;
    const isFromA = this.flows.isFromA;
    if (session === undefined || (isNewSyn && startsOver(session, isFromA, frame.sequence)))
      session = this.#open(frame, nowMs);
    if (session === undefined) {
      this.totals.unassigned++;
      return;
    }
    this.lastSession = session.index;
    if (nowMs > session.lastMs) session.lastMs = nowMs;
    this.#payload.select(session, nowMs);
    const from = this.flows.isFromA ? session.a : session.b;
    from.packets++;
    if (frame.protocol === UDP) this.#datagram(session, frame);
    else this.isLastDuplicate = !this.#tcp.accept(session, from, this.flows.isFromA ? session.b : session.a, frame);
  }

  #open(frame: Frame, nowMs: number): Session | undefined {
    const index = this.sessions.length;
    if (index >= this.#options.maxSessions) return undefined;
    const isFromA = this.flows.isFromA;
    const ports = {
      isTcp: frame.protocol === TCP,
      portA: isFromA ? frame.sourcePort : frame.destinationPort,
      portB: isFromA ? frame.destinationPort : frame.sourcePort,
    };
    const session = new Session(index, ports, nowMs);
    session.isFirstPacketFromA = isFromA;
    session.recorder = this.#options.recorderFor?.(index) ?? null;
    this.flows.assign(index);
    this.sessions.push(session);
    return session;
  }

  #datagram(session: Session, frame: Frame): void {
    const from = this.flows.isFromA ? session.a : session.b;
    if (!session.isTunnelled && isTunnel(frame)) session.isTunnelled = true;
    this.#payload.datagram(from, frame.bytes, frame.payloadStart, frame.payloadCaptured);
    const cut = frame.payloadLength - frame.payloadCaptured;
    if (cut > 0) this.#payload.cut(from, cut);
  }
}
