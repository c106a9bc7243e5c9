import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { type Cable, createCable } from './namespaces.ts';

/** A cable made before each test of a file, or once before all of them, prepared and removed afterwards. */
export const useCable = (lifetime: 'test' | 'file', prepare: (cable: Cable) => void = () => {}): Cable => {
  let cable: Cable | undefined;
  const [before, after] = lifetime === 'test' ? [beforeEach, afterEach] : [beforeAll, afterAll];
  before(() => {
    cable = createCable();
    prepare(cable);
  });
  const remove = () => cable?.remove();
  after(remove);
  const current = () => {
    if (!cable) throw new Error('the cable exists only while a test runs');
    return cable;
  };
  return {
    get left() {
      return current().left;
    },
    get right() {
      return current().right;
    },
    remove,
  };
};

/** Stops the kernel's own IPv6 neighbour discovery, so that only packets of the test cross the cable. */
export const stopNeighbourDiscovery = ({ left, right }: Cable): void => {
  for (const side of [left, right]) side.run('ip', 'link', 'set', side.device, 'addrgenmode', 'none');
};
