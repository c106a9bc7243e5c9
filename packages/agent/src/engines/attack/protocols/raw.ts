import type { ProtocolDriver } from '../driver.ts';
import { attemptRaw, proveRaw } from './raw-client.ts';
import { listenRaw } from './raw-server.ts';

/** Plain bytes by TCP, TLS or UDP. */
export const rawDriver: ProtocolDriver = {
  protocols: ['raw'],
  attempt: attemptRaw,
  prove: proveRaw,
  listen: listenRaw,
};
