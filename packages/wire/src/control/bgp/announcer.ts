import { MessageWriter } from '../message-writer.ts';
import { attributeFlag, attributeType, writeAttributes } from './attributes.ts';
import type { BgpFamily } from './families.ts';
import { beginMessage, bgpHeaderBytes, bgpType, endMessage } from './message.ts';
import { plainUnicast, type RouteSource } from './route-source.ts';

/** What both sides have agreed on, as far as it changes how routes are written. */
export interface AnnounceOptions {
  readonly fourByteAs: boolean;
  readonly maxMessage: number;
  /** Routes of the family carry a path id when sent. */
  readonly sendsPathIds: (family: BgpFamily) => boolean;
}

interface Batch {
  readonly source: RouteSource;
  readonly pathId: number;
  readonly isWithdrawn: boolean;
  next: number;
  readonly end: number;
}

/** Says that all routes of a family have been announced. */
interface EndOfRib {
  readonly family: BgpFamily;
}

const { optional, extended } = attributeFlag;
/** Flags, type and a length of 16 bits. */
const attributeHeadBytes = 4;
/** Batches that are done before they leave the queue. */
const maxDone = 4096;

/** Writes UPDATE messages for ranges of routes, as many routes in each as fit. */
export class Announcer {
  readonly counters = { announced: 0, withdrawn: 0, messages: 0 };
  /** Routes that the neighbour has been sent in this session and that are not withdrawn. */
  activeRoutes = 0;
  readonly #writer = new MessageWriter(1 << 17);
  readonly #scratch = new MessageWriter(512);
  /** What waits, from `#head` on: a table of many attributes has hundreds of thousands of batches. */
  #queue: (Batch | EndOfRib)[] = [];
  #head = 0;
  #options: AnnounceOptions = { fourByteAs: true, maxMessage: 4096, sendsPathIds: () => false };

  get isIdle(): boolean {
    return this.#head === this.#queue.length;
  }

  /** Forgets what waits; used at the start of a session. */
  reset(options: AnnounceOptions): void {
    this.#options = options;
    this.#queue = [];
    this.#head = 0;
    this.activeRoutes = 0;
  }

  /** Announces or withdraws routes [from, to) of a source. */
  add(source: RouteSource, options: { from: number; to: number; isWithdrawn?: boolean; pathId?: number }): void {
    const { from, to, isWithdrawn = false, pathId = 0 } = options;
    if (from < to) this.#queue.push({ source, pathId, isWithdrawn, next: from, end: to });
  }

  addEndOfRib(family: BgpFamily): void {
    this.#queue.push({ family });
  }

  /** The next messages: at most `maxMessages`, and about `maxBytes`. Undefined if nothing waits. */
  next(maxBytes: number, maxMessages = Number.POSITIVE_INFINITY): Uint8Array | undefined {
    const writer = this.#writer.clear();
    for (let count = 0; count < maxMessages && writer.length < maxBytes && !this.isIdle; count++) {
      const batch = this.#queue[this.#head] as Batch | EndOfRib;
      const start = beginMessage(writer, bgpType.update);
      if ('family' in batch) this.#writeEndOfRib(writer, batch.family);
      else this.#writeBatch(writer, batch);
      endMessage(writer, start);
      this.counters.messages++;
      if ('family' in batch || batch.next >= batch.end) this.#head++;
    }
    if (this.isIdle || this.#head >= maxDone) this.#forgetDone();
    return writer.length === 0 ? undefined : writer.take();
  }

  #forgetDone(): void {
    this.#queue.splice(0, this.#head);
    this.#head = 0;
  }

  #writeBatch(writer: MessageWriter, batch: Batch): void {
    const isPlain = batch.source.family === plainUnicast && (batch.isWithdrawn || batch.source.nextHop.length === 4);
    if (batch.isWithdrawn) this.#writeWithdrawal(writer, batch, isPlain);
    else this.#writeAnnouncement(writer, batch, isPlain);
  }

  #writeEndOfRib(writer: MessageWriter, { afi, safi }: BgpFamily): void {
    writer.u16(0);
    if (afi === 1 && safi === 1) writer.u16(0);
    else writer.u16(6).u8(optional).u8(attributeType.unreach).u8(3).u16(afi).u8(safi);
  }

  #writeWithdrawal(writer: MessageWriter, batch: Batch, isPlain: boolean): void {
    const room = this.#options.maxMessage - bgpHeaderBytes - 4;
    if (isPlain) {
      const at = writer.reserve(2);
      this.#writeRoutes(writer, batch, room);
      writer.view.setUint16(at, writer.length - at - 2);
      writer.u16(0);
      return;
    }
    writer.u16(0);
    const lengthAt = writer.reserve(2);
    const attributeAt = writer.length;
    writer
      .u8(optional | extended)
      .u8(attributeType.unreach)
      .u16(0);
    writer.u16(batch.source.family.afi).u8(batch.source.family.safi);
    this.#writeRoutes(writer, batch, room - attributeHeadBytes - 3);
    writer.view.setUint16(attributeAt + 2, writer.length - attributeAt - attributeHeadBytes);
    writer.view.setUint16(lengthAt, writer.length - lengthAt - 2);
  }

  #writeAnnouncement(writer: MessageWriter, batch: Batch, isPlain: boolean): void {
    const { source } = batch;
    const attributes = this.#scratch.clear();
    const nextHop4 = isPlain ? source.nextHop : undefined;
    const given = source.attributes;
    // Paths to the same prefix differ in their MED.
    const med = given.med === undefined ? undefined : given.med + Math.max(batch.pathId - 1, 0);
    writeAttributes(attributes, { ...given, med }, { fourByteAs: this.#options.fourByteAs, nextHop4 });
    const own = attributes.bytes.subarray(0, attributes.length);
    writer.u16(0);
    const lengthAt = writer.reserve(2);
    const room = this.#options.maxMessage - bgpHeaderBytes - 4 - own.length;
    if (isPlain) {
      writer.copy(own);
      writer.view.setUint16(lengthAt, own.length);
      this.#writeRoutes(writer, batch, room);
      return;
    }
    this.#writeReach(writer, batch, room);
    writer.copy(own);
    writer.view.setUint16(lengthAt, writer.length - lengthAt - 2);
  }

  /** MP_REACH_NLRI comes first (RFC 7606, section 5.1). */
  #writeReach(writer: MessageWriter, batch: Batch, room: number): void {
    const { family, nextHop } = batch.source;
    const at = writer.length;
    writer
      .u8(optional | extended)
      .u8(attributeType.reach)
      .u16(0);
    writer.u16(family.afi).u8(family.safi).u8(nextHop.length).copy(nextHop).u8(0);
    this.#writeRoutes(writer, batch, room - (writer.length - at));
    writer.view.setUint16(at + 2, writer.length - at - attributeHeadBytes);
  }

  #writeRoutes(writer: MessageWriter, batch: Batch, room: number): void {
    const { source, pathId, isWithdrawn } = batch;
    const hasPathIds = this.#options.sendsPathIds(source.family);
    const end = writer.length + room - source.maxBytes - (hasPathIds ? 4 : 0);
    const first = batch.next;
    if (writer.length > end) throw new RangeError(`a route of ${source.family.name} does not fit into a message`);
    while (batch.next < batch.end && writer.length <= end) {
      if (hasPathIds) writer.u32(pathId);
      source.write(writer, batch.next++, isWithdrawn);
    }
    const count = batch.next - first;
    this.counters[isWithdrawn ? 'withdrawn' : 'announced'] += count;
    this.activeRoutes += isWithdrawn ? -count : count;
  }
}
