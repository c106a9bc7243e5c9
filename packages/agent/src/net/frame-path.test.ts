import { describe, expect, it } from 'vitest';
import { openFrameSender } from './frame-path.ts';
import { requireDevice } from './packet/device.ts';

const note = () => {};

describe.each(['af_xdp', 'af_packet'] as const)('slots of %s', (path) => {
  it('reject frames that are too long and sends beyond the last slot', () => {
    const sender = openFrameSender({ path, device: requireDevice('lo'), count: 4, bytes: 100, note });
    try {
      const { slots } = sender;
      for (const bytes of [101, -1, Number.NaN]) expect(() => slots.setLength(0, bytes)).toThrow('does not fit');
      expect(() => sender.send(0, slots.count + 1)).toThrow(RangeError);
      expect(() => sender.send(-1, 1)).toThrow(RangeError);
      for (let slot = 0; slot < slots.count; slot++) expect(slots.offsetOf(slot) % 2).toBe(0);
    } finally {
      sender.close();
    }
  });
});

describe('a frame path requested by name', () => {
  it('is refused with the reason if the interface does not support it', () => {
    const options = { device: requireDevice('lo'), count: 4, note } as const;
    expect(() => openFrameSender({ ...options, path: 'xdp', bytes: 100 })).toThrow(
      'frames cannot be sent by lo: no XDP live frames: the driver of lo does not transmit XDP frames',
    );
    expect(() => openFrameSender({ ...options, path: 'af_xdp', bytes: 9000 })).toThrow('limited to 4096 bytes');
  });
});
