import { describe, expect, it } from 'vitest';
import { formats } from './formats.ts';
import type { Point } from './points.ts';
import { snappyOf, writeRequestOf } from './remote-write.ts';

const point = (more: Partial<Point> = {}): Point => ({
  ...{ name: 'rushhour_run_x', unit: 'ms', labels: { task: 'a, b=c', run: '1' }, value: 1.5, at: 1_700_000_000_000 },
  ...more,
});

describe('formats of outputs', () => {
  it('a write request is the message of Prometheus', () => {
    // Series { label { name: "__name__" value: "m" } sample { value: 1.5 timestamp: 300 } }
    const message = writeRequestOf([point({ name: 'm', labels: {}, at: 300 })]);
    expect(message.toString('hex')).toBe(
      ['0a1d', '0a0d', '0a085f5f6e616d655f5f', '12016d', '120c', '09000000000000f83f', '10ac02'].join(''),
    );
  });

  it('snappy literals carry any length', () => {
    for (const length of [0, 1, 60, 65_536, 65_537, 200_000]) {
      const content = Buffer.alloc(length, 7);
      const packed = snappyOf(content);
      const chunks = Math.ceil(length / 65_536);
      const header = length < 128 ? 1 : length < 16_384 ? 2 : 3;
      expect(packed.length).toBe(header + chunks * 3 + length);
    }
  });

  it('line protocol escapes what separates', () => {
    const { body } = formats.influx([point()]);
    expect(body.toString()).toBe('rushhour_run_x,task=a\\,\\ b\\=c,run=1 value=1.5 1700000000000000000\n');
  });

  it('JSON lines have time, name, labels and value', () => {
    const line = JSON.parse(formats.jsonLines([point()]).body.toString());
    expect(line).toEqual({
      ...{ time: '2023-11-14T22:13:20.000Z', name: 'rushhour_run_x', unit: 'ms', value: 1.5 },
      labels: { task: 'a, b=c', run: '1' },
    });
  });
});
