import { PcapError } from '../pcap-error.ts';
import type { CaptureFormat } from '../read/capture-format.ts';
import { CaptureReader, type CaptureSource, readCapture } from '../read/capture-reader.ts';
import { millisecondsSince, type Packet } from '../read/packet.ts';
import { parsePacketRanges } from '../read/packet-filter.ts';
import { DEFAULT_MAX_SESSIONS } from '../sessions/analyze.ts';
import { SessionTracker } from '../sessions/session-tracker.ts';
import { type AnonymiseOptions, Anonymiser } from './anonymiser.ts';
import { CaptureWriter } from './capture-writer.ts';

const FLUSH_BYTES = 262_144;

export interface TrimOptions {
  /** Indexes of the sessions to keep; all packets, also those of no session, when absent. */
  readonly keepSessions?: readonly number[];
  /** After the first packet, both ends included. */
  readonly fromMs?: number;
  readonly toMs?: number;
  /** Packet numbers such as "1-500,600". */
  readonly packets?: string;
  readonly dropRetransmissions?: boolean;
  readonly anonymise?: AnonymiseOptions;
  /** Returned in its new form if addresses are anonymised. */
  readonly clientIp?: string;
  /** That of the input when absent; pcap becomes pcapng where link types are mixed. */
  readonly format?: CaptureFormat;
}

export interface TrimResult {
  readonly format: CaptureFormat;
  readonly packets: number;
  readonly sessionsRemap: { from: number; to: number }[];
  readonly droppedRetransmissions: number;
  /** Packets left out because they may name addresses that could not be anonymised. */
  readonly droppedOpaque: number;
  readonly clientIp: string | undefined;
}

interface Selection {
  readonly kept: BitSet;
  readonly linkTypes: Set<number>;
  readonly format: CaptureFormat;
  droppedRetransmissions: number;
}

/** Writes the selected packets as a new capture. The source is opened twice: once to choose, once to copy. */
export async function trimCapture(
  open: () => CaptureSource,
  write: (chunk: Uint8Array) => void | Promise<void>,
  options: TrimOptions,
): Promise<TrimResult> {
  const selection = await select(open(), options);
  if (selection.kept.size === 0) throw nothingLeft();
  const copy = new CaptureCopy(selection, options);
  const source = open();
  for await (const chunk of source instanceof Uint8Array ? [source] : source) {
    copy.push(chunk);
    if (copy.writer.size >= FLUSH_BYTES) await write(copy.writer.take());
  }
  if (copy.packets === 0) throw nothingLeft();
  await write(copy.writer.take());
  return copy.result();
}

async function select(source: CaptureSource, options: TrimOptions): Promise<Selection> {
  const tracker = new SessionTracker({ maxSessions: DEFAULT_MAX_SESSIONS, fillGaps: false });
  const isWanted = packetTest(options);
  const sessions = options.keepSessions === undefined ? undefined : new Set(options.keepSessions);
  const [wanted, kept, linkTypes] = [new BitSet(), new BitSet(), new Set<number>()];
  let droppedRetransmissions = 0;
  const reader = await readCapture(source, (packet) => {
    tracker.add(packet);
    linkTypes.add(packet.linkType);
    if (isWanted(packet)) wanted.add(packet.number);
    if (sessions !== undefined && !sessions.has(tracker.lastSession)) return true;
    for (const number of [...tracker.lastFragments, packet.number]) {
      if (!wanted.has(number)) continue;
      if (tracker.isLastDuplicate && options.dropRetransmissions === true) droppedRetransmissions++;
      else kept.add(number);
    }
    return true;
  });
  checkSessions(options.keepSessions ?? [], tracker.sessions.length);
  return { kept, linkTypes, format: options.format ?? reader.format ?? 'pcap', droppedRetransmissions };
}

function packetTest(options: TrimOptions): (packet: Packet) => boolean {
  const isInRange = options.packets === undefined ? () => true : parsePacketRanges(options.packets);
  const [fromMs, toMs] = [options.fromMs ?? Number.NEGATIVE_INFINITY, options.toMs ?? Number.POSITIVE_INFINITY];
  let origin: { seconds: number; nanoseconds: number } | undefined;
  return (packet) => {
    origin ??= { seconds: packet.seconds, nanoseconds: packet.nanoseconds };
    const atMs = millisecondsSince(packet, origin.seconds, origin.nanoseconds);
    return atMs >= fromMs && atMs <= toMs && isInRange(packet.number);
  };
}

/** The second pass: copies the selected packets and tracks both captures to map session indexes. */
class CaptureCopy {
  packets = 0;
  readonly writer: CaptureWriter;
  readonly #format: CaptureFormat;
  readonly #selection: Selection;
  readonly #options: TrimOptions;
  readonly #before = new SessionTracker({ maxSessions: DEFAULT_MAX_SESSIONS, fillGaps: false });
  readonly #after = new SessionTracker({ maxSessions: DEFAULT_MAX_SESSIONS, fillGaps: false });
  readonly #moved = new Map<number, number>();
  readonly #anonymiser: Anonymiser | undefined;
  readonly #reader = new CaptureReader((packet) => this.#copy(packet));
  #droppedOpaque = 0;

  constructor(selection: Selection, options: TrimOptions) {
    this.#selection = selection;
    this.#options = options;
    this.#format = selection.linkTypes.size > 1 ? 'pcapng' : selection.format;
    this.writer = new CaptureWriter({ format: this.#format, linkType: [...selection.linkTypes][0] ?? 1 });
    const anonymise = options.anonymise ?? {};
    this.#anonymiser = anonymise.ips === true || anonymise.macs === true ? new Anonymiser(anonymise) : undefined;
  }

  push(chunk: Uint8Array): void {
    this.#reader.push(chunk);
  }

  result(): TrimResult {
    const { clientIp } = this.#options;
    return {
      format: this.#format,
      packets: this.packets,
      sessionsRemap: [...this.#moved].map(([from, to]) => ({ from, to })).sort((left, right) => left.from - right.from),
      droppedRetransmissions: this.#selection.droppedRetransmissions,
      droppedOpaque: this.#droppedOpaque,
      clientIp: clientIp === undefined ? undefined : (this.#anonymiser?.address(clientIp) ?? clientIp),
    };
  }

  #copy(packet: Packet): boolean {
    this.#before.add(packet);
    if (!this.#selection.kept.has(packet.number)) return true;
    const written = this.#anonymiser === undefined ? packet : this.#anonymiser.rewritten(packet);
    if (written === null) {
      this.#droppedOpaque++;
      return true;
    }
    this.packets++;
    this.writer.add(written);
    this.#after.add({ ...written, number: this.packets });
    const [from, to] = [this.#before.lastSession, this.#after.lastSession];
    if (from >= 0 && to >= 0 && !this.#moved.has(from)) this.#moved.set(from, to);
    return true;
  }
}

function checkSessions(wanted: readonly number[], count: number): void {
  const unknown = wanted.find((index) => !Number.isInteger(index) || index < 0 || index >= count);
  if (unknown === undefined) return;
  throw new PcapError('NO_SUCH_SESSION', `The capture has ${count} sessions, there is no session ${unknown}.`);
}

function nothingLeft(): PcapError {
  return new PcapError('NOTHING_LEFT', 'No packet is left of the capture.');
}

/** A growing set of small numbers, one bit each. */
class BitSet {
  size = 0;
  #words = new Int32Array(1024);

  add(number: number): void {
    const word = number >>> 5;
    if (word >= this.#words.length) {
      const larger = new Int32Array(Math.max(word + 1, this.#words.length * 2));
      larger.set(this.#words);
      this.#words = larger;
    }
    const before = this.#words[word] as number;
    const after = before | (1 << (number & 31));
    this.#words[word] = after;
    if (after !== before) this.size++;
  }

  has(number: number): boolean {
    return (((this.#words[number >>> 5] ?? 0) >>> (number & 31)) & 1) === 1;
  }
}
