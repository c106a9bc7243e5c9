import type { Point } from './points.ts';
import { snappyOf, writeRequestOf } from './remote-write.ts';

/** A body for one kind of receiver, and its headers. */
export interface Encoded {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

const remoteWrite = (points: readonly Point[]): Encoded => ({
  body: snappyOf(writeRequestOf(points)),
  headers: {
    'content-type': 'application/x-protobuf',
    'content-encoding': 'snappy',
    'x-prometheus-remote-write-version': '0.1.0',
  },
});

const attributesOf = (labels: Readonly<Record<string, string>>) =>
  Object.entries(labels).map(([key, value]) => ({ key, value: { stringValue: value } }));

const dataPointOf = ({ labels, at, value }: Point) => ({
  attributes: attributesOf(labels),
  timeUnixNano: `${at}000000`,
  asDouble: value,
});

/** OTLP over HTTP in its JSON form: each metric is a gauge. */
const otlp = (points: readonly Point[]): Encoded => {
  const byName = Map.groupBy(points, ({ name }) => name);
  const metrics = [...byName].map(([name, group]) => ({
    name,
    unit: group[0]?.unit ?? '',
    gauge: { dataPoints: group.map(dataPointOf) },
  }));
  const resource = { attributes: attributesOf({ 'service.name': 'rushhour' }) };
  const body = { resourceMetrics: [{ resource, scopeMetrics: [{ scope: { name: 'rushhour' }, metrics }] }] };
  return { body: Buffer.from(JSON.stringify(body)), headers: { 'content-type': 'application/json' } };
};

const escaped = (text: string) => text.replace(/[\n\r\\]/g, ' ').replace(/[,= ]/g, (character) => `\\${character}`);

const lineOf = ({ name, labels, value, at }: Point) => {
  const tags = Object.entries(labels)
    .filter(([, label]) => label !== '')
    .map(([key, label]) => `,${escaped(key)}=${escaped(label)}`);
  return `${name}${tags.join('')} value=${value} ${at}000000\n`;
};

const influx = (points: readonly Point[]): Encoded => ({
  body: Buffer.from(points.map(lineOf).join('')),
  headers: { 'content-type': 'text/plain; charset=utf-8' },
});

const jsonLines = (points: readonly Point[]): Encoded => ({
  body: Buffer.from(
    points.map(({ at, ...point }) => `${JSON.stringify({ time: new Date(at).toISOString(), ...point })}\n`).join(''),
  ),
  headers: { 'content-type': 'application/x-ndjson' },
});

/** How each type of output writes points. */
export const formats = { prometheus: remoteWrite, otlp, influx, jsonLines } as const;
