import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Phase } from '@rushhour/protocol';
import { ByteReader, ByteWriter } from './byte-stream.ts';
import type { Part, Second } from './second.ts';

const forms = { plain: 0, zstd: 1 } as const;

const tagged = (form: number, bytes: Uint8Array) => {
  const all = new Uint8Array(bytes.length + 1);
  all[0] = form;
  all.set(bytes, 1);
  return all;
};

/** As it is stored at first: the seconds of a moment are too few to be worth the time. */
export const storedPlain = (bytes: Uint8Array) => tagged(forms.plain, bytes);

/** As it is stored for good. A minute takes half a millisecond: less than to hand it to another thread. */
export const zstdBlob = (bytes: Uint8Array) =>
  tagged(forms.zstd, zstdCompressSync(bytes, { pledgedSrcSize: bytes.length }));

export const packedOf = (stored: Uint8Array): Uint8Array =>
  stored[0] === forms.zstd ? zstdDecompressSync(stored.subarray(1)) : stored.subarray(1);

const phases: readonly Phase[] = ['warmUp', 'rampUp', 'steady', 'rampDown', 'windDown', 'paused'];

/** Which values a part of a second has; most seconds of a job have the same. */
interface PartShape {
  readonly target: number;
  readonly scalars: readonly number[];
  readonly histograms: readonly number[];
}

/**
 * Seconds of one source as bytes: first what all have, then their shapes, then one column for each metric of each target.
 * So equal things lie side by side, and a reader passes over the columns it does not want.
 */
export const packSeconds = (seconds: readonly Second[]): Uint8Array => {
  const writer = whole.restart();
  writer.varint(seconds.length);
  let previous = { seq: -1, at: 0 };
  for (const { seq, at } of seconds) {
    if (seq <= previous.seq) throw new RangeError('packed seconds must be in order');
    writer.varint(seq - previous.seq - 1);
    writer.number(at - previous.at);
    previous = { seq, at };
  }
  for (const { spanMs } of seconds) writer.number(spanMs);
  for (const { phase } of seconds) writer.varint(phases.indexOf(phase));
  writeShapes(writer, seconds);
  writeColumns(writer, seconds);
  return writer.toBytes();
};

/** Throws when the bytes are not packed seconds. `wants` says which metrics are read; all when left out. */
export const unpackSeconds = (bytes: Uint8Array, wants: (metric: number) => boolean = () => true): Second[] => {
  const reader = new ByteReader(bytes);
  const count = reader.varint();
  let previous = { seq: -1, at: 0 };
  const times = Array.from({ length: count }, () => {
    previous = { seq: previous.seq + reader.varint() + 1, at: previous.at + reader.number() };
    return previous;
  });
  const spans = Array.from({ length: count }, () => reader.number());
  const phaseOf = Array.from({ length: count }, () => phases[reader.varint()] ?? 'steady');
  const shapes = Array.from({ length: reader.varint() }, () => wantedOf(readShape(reader), wants));
  const shapeOf = Array.from({ length: count }, () => shapes[reader.varint()] ?? []);
  const columns = readColumns(reader, bytes, wants);
  return shapeOf.map((shape, i) => ({
    ...(times[i] as { seq: number; at: number }),
    spanMs: spans[i] as number,
    phase: phaseOf[i] as Phase,
    parts: shape.map((part) => readPart(part, columns)),
  }));
};

const whole = new ByteWriter();
const payload = new ByteWriter();

const columnKey = (target: number, metric: number) => target * 2 ** 26 + metric;

const writeList = (writer: ByteWriter, numbers: readonly number[]) => {
  writer.varint(numbers.length);
  for (const number of numbers) writer.varint(number);
};

const readList = (reader: ByteReader) => Array.from({ length: reader.varint() }, () => reader.varint());

const writeShapes = (writer: ByteWriter, seconds: readonly Second[]) => {
  const indexOf = new Map<string, number>();
  const shapes: PartShape[][] = [];
  const indexes = seconds.map(({ parts }) => {
    const shape = parts.map(({ target, scalars, histograms }) => ({
      target,
      scalars: [...scalars.keys()],
      histograms: [...histograms.keys()],
    }));
    const key = shape.map((part) => `${part.target}:${part.scalars}:${part.histograms}`).join(';');
    const index = indexOf.get(key) ?? shapes.push(shape) - 1;
    indexOf.set(key, index);
    return index;
  });
  writer.varint(shapes.length);
  for (const shape of shapes) {
    writer.varint(shape.length);
    for (const { target, scalars, histograms } of shape) {
      writer.varint(target);
      writeList(writer, scalars);
      writeList(writer, histograms);
    }
  }
  for (const index of indexes) writer.varint(index);
};

/** Most readers want few of many metrics: the others are left out once and not in each second. */
const wantedOf = (shape: readonly PartShape[], wants: (metric: number) => boolean): PartShape[] =>
  shape.map(({ target, scalars, histograms }) => ({
    target,
    scalars: scalars.filter(wants),
    histograms: histograms.filter(wants),
  }));

const readShape = (reader: ByteReader): PartShape[] =>
  Array.from({ length: reader.varint() }, () => ({
    target: reader.varint(),
    scalars: readList(reader),
    histograms: readList(reader),
  }));

interface Column {
  readonly target: number;
  readonly metric: number;
  readonly values: (number | Uint8Array)[];
}

const columnsOf = (seconds: readonly Second[]): Iterable<Column> => {
  const columns = new Map<number, Column>();
  const add = (target: number, metric: number, value: number | Uint8Array) => {
    const key = columnKey(target, metric);
    const column = columns.get(key);
    if (column === undefined) columns.set(key, { target, metric, values: [value] });
    else column.values.push(value);
  };
  for (const { parts } of seconds) {
    for (const { target, scalars, histograms } of parts) {
      for (const [metric, value] of scalars) add(target, metric, value);
      for (const [metric, bytes] of histograms) add(target, metric, bytes);
    }
  }
  return columns.values();
};

const writeColumns = (writer: ByteWriter, seconds: readonly Second[]) => {
  payload.restart();
  const columns = [...columnsOf(seconds)];
  writer.varint(columns.length);
  for (const { target, metric, values } of columns) {
    const start = payload.length;
    for (const value of values) {
      if (typeof value === 'number') payload.number(value);
      else {
        payload.varint(value.length);
        payload.raw(value);
      }
    }
    writer.varint(target);
    writer.varint(metric);
    writer.varint(payload.length - start);
  }
  writer.all(payload);
};

type Columns = Map<number, ByteReader>;

const readColumns = (reader: ByteReader, bytes: Uint8Array, wants: (metric: number) => boolean): Columns => {
  const directory = Array.from({ length: reader.varint() }, () => ({
    target: reader.varint(),
    metric: reader.varint(),
    length: reader.varint(),
  }));
  const columns: Columns = new Map();
  let start = reader.at;
  for (const { target, metric, length } of directory) {
    if (start + length > bytes.length) throw new RangeError('packed bytes end too early');
    if (wants(metric)) columns.set(columnKey(target, metric), new ByteReader(bytes, start, start + length));
    start += length;
  }
  return columns;
};

const readPart = ({ target, scalars, histograms }: PartShape, columns: Columns): Part => {
  const part: Part = { target, scalars: new Map(), histograms: new Map() };
  for (const metric of scalars) {
    const column = columns.get(columnKey(target, metric));
    if (column !== undefined) part.scalars.set(metric, column.number());
  }
  for (const metric of histograms) {
    const column = columns.get(columnKey(target, metric));
    if (column !== undefined) part.histograms.set(metric, column.raw(column.varint()));
  }
  return part;
};
