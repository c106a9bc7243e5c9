import type { HttpValues } from '@rushhour/contract';
import { encodeProto } from '../../../assets/protobuf/proto-encode.ts';
import {
  findProtoType,
  type ProtoFile,
  type ProtoMethod,
  parseProtoFile,
} from '../../../assets/protobuf/proto-file.ts';
import { ProtoError } from '../../../assets/protobuf/proto-tokens.ts';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';
import type { MeasuredPayload } from '../payloads.ts';

type Params = HttpValues['httpParams'];
export type Grpc = NonNullable<Params['grpc']>;

interface Described {
  readonly message?: MeasuredPayload | undefined;
  readonly answer?: MeasuredPayload | undefined;
}

export const bytesPayload = (bytes: Uint8Array): MeasuredPayload => ({
  payload: { type: 'base64', size: 0, data: Buffer.from(bytes).toString('base64') },
  bytes: bytes.length,
});

const callOf = ({ streamsIn, streamsOut }: ProtoMethod): Grpc['call'] =>
  streamsIn ? (streamsOut ? 'bidirectional' : 'clientStreaming') : streamsOut ? 'serverStreaming' : 'unary';

const pathOf = ({ url, path }: Params): string =>
  url !== undefined && URL.canParse(url) ? new URL(url).pathname : path;

/** Messages whose content is given as JSON; problems are reported as issues. */
export const describedMessages = (scope: PlanScope, params: Params, grpc: Grpc): Described => {
  const { proto, call, messageHex, answerHex } = grpc;
  const refuse = (member: string, code: string, message: string): undefined =>
    scope.issues.error(pointerIn(scope, 'httpParams', 'grpc', member), code, message);
  const members = (['messageJson', 'answerJson'] as const).filter((member) => grpc[member] !== undefined);
  if (proto === undefined) {
    for (const member of members) refuse(member, 'NOT_SUPPORTED', 'needs proto, which describes the messages');
    return {};
  }
  if (grpc.messageJson !== undefined && messageHex !== undefined)
    refuse('messageHex', 'NOT_SUPPORTED', 'has no effect: the message is given by messageJson');
  if (grpc.answerJson !== undefined && answerHex !== undefined)
    refuse('answerHex', 'NOT_SUPPORTED', 'has no effect: the answer is given by answerJson');
  const file = orReport(
    () => parseProtoFile(proto),
    (message) => refuse('proto', 'PROTO_INVALID', message),
  );
  if (file === undefined) return {};
  const method = file.methods.get(pathOf(params));
  if (method === undefined) {
    const known = [...file.methods.keys()].slice(0, 10).join(', ') || 'none';
    return refuse('proto', 'METHOD_UNKNOWN', `has no method ${pathOf(params)}; it has ${known}`) ?? {};
  }
  if (callOf(method) !== call) refuse('call', 'METHOD_KIND', `the method of proto is ${callOf(method)}`);
  const encoded = (member: 'messageJson' | 'answerJson', type: string) =>
    orReport(
      () => encodedOf(file, method, type, grpc[member]),
      (message) => refuse(member, 'MESSAGE_INVALID', message),
    );
  return { message: encoded('messageJson', method.input), answer: encoded('answerJson', method.output) };
};

const encodedOf = (
  file: ProtoFile,
  { scope }: ProtoMethod,
  type: string,
  json: string | undefined,
): MeasuredPayload | undefined => {
  if (json === undefined) return undefined;
  const name = findProtoType(file, scope, type);
  if (name === undefined || !file.messages.has(name)) throw new ProtoError(`the message ${type} is not in the file`);
  return bytesPayload(encodeProto(file, name, JSON.parse(json)));
};

/** Reports what is wrong with a description or its content. */
const orReport = <T>(action: () => T, report: (message: string) => undefined): T | undefined => {
  try {
    return action();
  } catch (error) {
    if (error instanceof ProtoError || error instanceof SyntaxError) return report(error.message);
    throw error;
  }
};
