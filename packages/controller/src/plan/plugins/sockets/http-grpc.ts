import type { HttpValues } from '@rushhour/contract';
import type { GrpcSettings, HttpClientConfig } from '@rushhour/protocol';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';
import { type MeasuredPayload, type PlannedPayload, payloadAt } from '../payloads.ts';

/** gRPC calls, for both sides. */
export interface PlannedGrpc {
  readonly settings: Omit<GrpcSettings, 'message' | 'answer'> & {
    readonly message: PlannedPayload;
    readonly answer: PlannedPayload;
  };
  /** Headers that every call has. */
  readonly headers: HttpClientConfig['headers'];
  readonly callBytes: number;
}

const hexPayload = (hex: string): MeasuredPayload => ({
  payload: { type: 'base64', size: 0, data: Buffer.from(hex, 'hex').toString('base64') },
  bytes: hex.length / 2,
});

/** Undefined without gRPC; problems are reported as issues. */
export const planGrpc = (scope: PlanScope, { httpParams }: HttpValues): PlannedGrpc | undefined => {
  const { grpc, path, version } = httpParams;
  if (grpc === undefined) return undefined;
  const { call, messageHex, answerHex, deadlineMs, messages, answers, status } = grpc;
  const refuse = (member: string, message: string) =>
    scope.issues.error(pointerIn(scope, 'httpParams', member), 'NOT_SUPPORTED', message);
  if (httpParams.webSocket !== undefined) refuse('webSocket', 'has no effect: requests are gRPC calls');
  if (version !== '2') refuse('version', 'gRPC needs version 2');
  if (httpParams.url === undefined && !/^\/[^/]+\/[^/]+$/.test(path))
    refuse('path', 'gRPC calls a method: /package.Service/Method');
  const at = (member: string) => ['httpParams', 'grpc', member] as const;
  const message = messageHex === undefined ? payloadAt(scope, grpc.message, ...at('message')) : hexPayload(messageHex);
  const given = grpc.answer && payloadAt(scope, grpc.answer, ...at('answer'));
  const answer = answerHex === undefined ? given : hexPayload(answerHex);
  const isStreamed = call === 'clientStreaming' || call === 'bidirectional';
  return {
    settings: {
      ...{ call, messages, answers, status, message: message.payload },
      answer: answer?.payload ?? { type: 'zero', size: 0, data: '' },
      isEcho: answer === undefined,
    },
    headers: [
      { name: 'content-type', value: 'application/grpc' },
      { name: 'te', value: 'trailers' },
      ...(deadlineMs > 0 ? [{ name: 'grpc-timeout', value: `${deadlineMs}m` }] : []),
    ],
    callBytes: (message.bytes + 5) * (isStreamed ? messages : 1),
  };
};
