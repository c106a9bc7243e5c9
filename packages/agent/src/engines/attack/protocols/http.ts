import type { ProtocolDriver } from '../driver.ts';
import { attemptHttp, proveHttp } from './http-client.ts';
import { listenHttp } from './http-server.ts';

/** HTTP/1, written byte by byte: requests need not be sound. */
export const httpDriver: ProtocolDriver = {
  protocols: ['http'],
  attempt: attemptHttp,
  prove: proveHttp,
  listen: listenHttp,
};
