import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { type LiveCounts, type LiveFrame, LiveWriter } from '@rushhour/pcap';
import type { Capture } from '@rushhour/protocol';

export interface CaptureFileOptions {
  readonly interface: string;
  readonly linkType: number;
  readonly savelen: number;
  readonly keep: Capture['keep'];
  readonly maxBytes: number;
  readonly pathOf: (part: number) => string;
}

interface Part {
  readonly path: string;
  bytes: number;
  packets: number;
  firstAt: number | null;
}

const roomBytes = 1024 * 1024;
/** Number of parts; the oldest is deleted when newer packets need its space. */
const partsKept = 8;

/** The packets of one interface on disk, at most `maxBytes`: the first or the newest. */
export class CaptureFile {
  readonly #options: CaptureFileOptions;
  readonly #maxPartBytes: number;
  readonly #parts: Part[] = [];
  #writer: LiveWriter;
  #fd = -1;
  #partCount = 0;
  #lastAt: number | null = null;
  #isTruncated = false;

  constructor(options: CaptureFileOptions) {
    this.#options = options;
    this.#maxPartBytes = options.keep === 'newest' ? Math.floor(options.maxBytes / partsKept) : options.maxBytes;
    this.#writer = this.#begin();
  }

  /** False if this packet and all later ones do not fit. */
  add(frame: LiveFrame): boolean {
    if (!this.#fits(frame) && this.#options.keep === 'newest' && this.#part.packets > 0) this.#rotate();
    if (!this.#fits(frame)) {
      this.#isTruncated = true;
      return this.#options.keep === 'newest';
    }
    if (!this.#writer.hasRoomFor(frame)) this.flush();
    this.#writer.add(frame);
    const part = this.#part;
    part.packets += 1;
    this.#lastAt = frame.seconds * 1000 + frame.nanoseconds / 1e6;
    part.firstAt ??= this.#lastAt;
    return true;
  }

  /** Writes buffered packets to the file, so that they survive this process. */
  flush(): void {
    const bytes = this.#writer.take();
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at);
    this.#part.bytes += bytes.length;
  }

  end(counts: LiveCounts): void {
    this.#writer.end(counts);
    this.flush();
    fsyncSync(this.#fd);
    closeSync(this.#fd);
  }

  get facts() {
    const sum = (member: 'bytes' | 'packets') => this.#parts.reduce((total, part) => total + part[member], 0);
    const firstAt = this.#parts.find((part) => part.firstAt !== null)?.firstAt ?? null;
    return {
      size: sum('bytes') + this.#writer.size,
      packets: sum('packets'),
      truncated: this.#isTruncated,
      firstAt,
      lastAt: this.#lastAt,
    };
  }

  get #part(): Part {
    return this.#parts.at(-1) as Part;
  }

  #fits(frame: LiveFrame): boolean {
    const { size, endBytes } = this.#writer;
    return this.#part.bytes + size + this.#writer.bytesOf(frame) + endBytes <= this.#maxPartBytes;
  }

  #begin(): LiveWriter {
    const path = this.#options.pathOf(this.#partCount++);
    this.#fd = openSync(path, 'wx', 0o600);
    this.#parts.push({ path, bytes: 0, packets: 0, firstAt: null });
    const { interface: name, linkType, savelen } = this.#options;
    return new LiveWriter({ name, linkType, snapLen: savelen }, roomBytes + savelen);
  }

  /** Continues in a new part and deletes the oldest if there are too many. */
  #rotate(): void {
    this.flush();
    closeSync(this.#fd);
    if (this.#parts.length >= partsKept) {
      rmSync((this.#parts.shift() as Part).path, { force: true });
      this.#isTruncated = true;
    }
    this.#writer = this.#begin();
  }
}
