import { describe, expect, it } from 'vitest';
import { chooseFrameSender } from './frame-path.ts';
import { requireDevice } from './packet/device.ts';

const note = () => {};

describe.each(['af_xdp', 'af_packet'] as const)('places of %s', (path) => {
  it('take no frame that is too long, and none is sent from beyond them', () => {
    const sender = chooseFrameSender({ path, device: requireDevice('lo'), count: 4, bytes: 100, note });
    try {
      const { places } = sender;
      for (const bytes of [101, -1, Number.NaN]) expect(() => places.setLength(0, bytes)).toThrow('does not fit');
      expect(() => sender.send(0, places.count + 1)).toThrow(RangeError);
      expect(() => sender.send(-1, 1)).toThrow(RangeError);
      for (let place = 0; place < places.count; place++) expect(places.offsetOf(place) % 2).toBe(0);
    } finally {
      sender.close();
    }
  });
});

describe('a way that is asked for by name', () => {
  it('is refused with the reason where the interface does not have it', () => {
    const wish = { device: requireDevice('lo'), count: 4, note } as const;
    expect(() => chooseFrameSender({ ...wish, path: 'xdp', bytes: 100 })).toThrow(
      'frames cannot be sent by lo: no XDP live frames: the driver of lo takes no frames of XDP',
    );
    expect(() => chooseFrameSender({ ...wish, path: 'af_xdp', bytes: 9000 })).toThrow('at most 4096 bytes');
  });
});
