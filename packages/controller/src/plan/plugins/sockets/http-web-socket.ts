import type { HttpValues } from '@rushhour/contract';
import type { WebSocketSettings } from '@rushhour/protocol';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';
import { type PlannedPayload, payloadAt } from '../payloads.ts';

/** Messages over WebSocket, for both sides. */
export interface PlannedWebSocket {
  readonly settings: Omit<WebSocketSettings, 'message'> & { readonly message: PlannedPayload };
  readonly messageBytes: number;
}

/** 1004 to 1006 and 1015 are never sent; the rest below 3000 is not given out (RFC 6455, section 7.4). */
const isSendable = (code: number): boolean => code >= 3000 || (code <= 1014 && (code <= 1003 || code >= 1007));

/** Undefined without WebSocket; problems are reported as issues. */
export const planWebSocket = (scope: PlanScope, { httpParams, duration }: HttpValues): PlannedWebSocket | undefined => {
  const { webSocket } = httpParams;
  if (webSocket === undefined) return undefined;
  const { kind, compression, subprotocol = '', ...rest } = webSocket;
  const at = (...parts: string[]) => pointerIn(scope, 'httpParams', 'webSocket', ...parts);
  const message = payloadAt(scope, rest.message, 'httpParams', 'webSocket', 'message');
  if (kind === 'text' && rest.message.type === 'random') {
    scope.issues.error(at('message', 'type'), 'NOT_SUPPORTED', 'random bytes are no text: choose kind binary');
  }
  if (message.bytes > rest.maxMessageBytes) {
    scope.issues.error(at('maxMessageBytes'), 'RANGE_INVALID', `messages have ${Math.round(message.bytes)} bytes`);
  }
  if (!isSendable(rest.closeCode)) {
    scope.issues.error(at('closeCode'), 'RANGE_INVALID', 'no close frame may carry this code');
  }
  if (rest.mode === 'receive' && duration.mode === 'count') {
    const path = pointerIn(scope, 'duration', 'mode');
    scope.issues.error(path, 'NOT_SUPPORTED', 'in mode receive the server sends: clients have nothing to count');
  }
  const settings = {
    ...rest,
    message: message.payload,
    isText: kind === 'text',
    isCompressed: compression,
    subprotocol,
  };
  return { settings, messageBytes: message.bytes };
};
