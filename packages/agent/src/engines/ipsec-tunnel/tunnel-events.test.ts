import { expect, it } from 'vitest';
import { TunnelEvents } from './tunnel-events.ts';

const sa = (host: number) => ({
  route: {
    ...{ localAddress: Uint8Array.of(10, 0, 0, host), remoteAddress: Uint8Array.of(10, 0, 1, 1) },
    ...{ localPort: 500, remotePort: 500, isEncapsulated: false, path: 0 },
  },
});

it('lists a few events that are alike one by one, many of them together, and ends some time', () => {
  const lines: string[] = [];
  const events = new TunnelEvents((line) => void lines.push(line));
  for (let host = 1; host <= 3; host++) events.add(sa(host), 'up');
  for (let host = 1; host <= 80; host++) events.add(sa(host), 'down: deleted');
  events.report();
  events.report();
  const tunnels = [1, 2, 3].map((host) => `10.0.0.${host} to 10.0.1.1: up`);
  expect(lines).toEqual([...tunnels, '80 tunnels: down: deleted']);
  for (let round = 0; round < 1000; round++) {
    events.add(sa(1), 'up');
    events.report();
  }
  expect(lines.length).toBe(501);
  expect(lines.at(-1)).toContain('further ones are not listed');
});
