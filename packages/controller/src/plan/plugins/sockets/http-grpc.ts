import type { HttpValues } from '@rushhour/contract';
import type { GrpcSettings, HttpClientConfig } from '@rushhour/protocol';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';
import { type MeasuredPayload, type PlannedPayload, payloadAt } from '../payloads.ts';
import { bytesPayload, describedMessages, type Grpc } from './http-grpc-proto.ts';

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

const hexPayload = (hex: string): MeasuredPayload => bytesPayload(Buffer.from(hex, 'hex'));

const gzipHeaders = [
  { name: 'grpc-encoding', value: 'gzip' },
  { name: 'grpc-accept-encoding', value: 'identity,gzip' },
];

/** The messages of both sides: from the description, else hexadecimal digits, else payloads. */
const messagesOf = (scope: PlanScope, params: HttpValues['httpParams'], grpc: Grpc) => {
  const described = describedMessages(scope, params, grpc);
  const at = (member: string) => ['httpParams', 'grpc', member] as const;
  const { messageHex, answerHex } = grpc;
  const given = grpc.answer && payloadAt(scope, grpc.answer, ...at('answer'));
  return {
    message:
      described.message ??
      (messageHex === undefined ? payloadAt(scope, grpc.message, ...at('message')) : hexPayload(messageHex)),
    answer: described.answer ?? (answerHex === undefined ? given : hexPayload(answerHex)),
  };
};

/** Undefined without gRPC; problems are reported as issues. */
export const planGrpc = (scope: PlanScope, { httpParams }: HttpValues): PlannedGrpc | undefined => {
  const { grpc, path, version } = httpParams;
  if (grpc === undefined) return undefined;
  const { call, compression, deadlineMs, messages, answers, status } = grpc;
  const refuse = (member: string, message: string) =>
    scope.issues.error(pointerIn(scope, 'httpParams', member), 'NOT_SUPPORTED', message);
  if (httpParams.webSocket !== undefined) refuse('webSocket', 'has no effect: requests are gRPC calls');
  if (version !== '2') refuse('version', 'gRPC needs version 2');
  if (httpParams.url === undefined && !/^\/[^/]+\/[^/]+$/.test(path))
    refuse('path', 'gRPC calls a method: /package.Service/Method');
  const { message, answer } = messagesOf(scope, httpParams, grpc);
  const isStreamed = call === 'clientStreaming' || call === 'bidirectional';
  return {
    settings: {
      ...{ call, compression, messages, answers, status, message: message.payload },
      answer: answer?.payload ?? { type: 'zero', size: 0, data: '' },
      isEcho: answer === undefined,
    },
    headers: [
      { name: 'content-type', value: 'application/grpc' },
      { name: 'te', value: 'trailers' },
      ...(compression === 'gzip' ? gzipHeaders : []),
      ...(deadlineMs > 0 ? [{ name: 'grpc-timeout', value: `${deadlineMs}m` }] : []),
    ],
    callBytes: (message.bytes + 5) * (isStreamed ? messages : 1),
  };
};
