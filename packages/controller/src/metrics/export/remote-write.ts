import type { Point } from './points.ts';

const varint = (value: number): number[] => {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  return [...bytes, rest];
};

const lengthDelimited = (field: number, content: Uint8Array): Buffer =>
  Buffer.concat([Uint8Array.from([(field << 3) | 2, ...varint(content.length)]), content]);

const text = (field: number, value: string) => lengthDelimited(field, Buffer.from(value));

const sampleOf = ({ value, at }: Point): Buffer => {
  const double = Buffer.alloc(9);
  double[0] = (1 << 3) | 1;
  double.writeDoubleLE(value, 1);
  return Buffer.concat([double, Uint8Array.from([2 << 3, ...varint(at)])]);
};

/** Labels in the order that receivers demand. */
const labelsOf = ({ name, labels }: Point): [string, string][] =>
  Object.entries({ ...labels, __name__: name })
    .filter(([, value]) => value !== '')
    .sort(([a], [b]) => (a < b ? -1 : 1));

/** The message `prometheus.WriteRequest`: each series with its samples in the order of time. */
export const writeRequestOf = (points: readonly Point[]): Buffer => {
  const series = Map.groupBy(points, (point) => JSON.stringify(labelsOf(point)));
  const messages = [...series.values()].map((samples) => {
    const labels = labelsOf(samples[0] as Point).map(([name, value]) =>
      lengthDelimited(1, Buffer.concat([text(1, name), text(2, value)])),
    );
    const inOrder = samples.toSorted((a, b) => a.at - b.at).map((sample) => lengthDelimited(2, sampleOf(sample)));
    return lengthDelimited(1, Buffer.concat([...labels, ...inOrder]));
  });
  return Buffer.concat(messages);
};

const chunkBytes = 65_536;

/** The block format of Snappy, of literals alone: valid for every reader, without compression. */
export const snappyOf = (content: Uint8Array): Buffer => {
  const parts: Uint8Array[] = [Uint8Array.from(varint(content.length))];
  for (let at = 0; at < content.length; at += chunkBytes) {
    const chunk = content.subarray(at, at + chunkBytes);
    const length = chunk.length - 1;
    // Tag 61: a literal whose length follows in two bytes.
    parts.push(Uint8Array.from([61 << 2, length & 0xff, length >> 8]), chunk);
  }
  return Buffer.concat(parts);
};
