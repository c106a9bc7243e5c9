import type { WafValues } from '@rushhour/contract';
import { encodeProto } from '../../../assets/protobuf/proto-encode.ts';
import { findProtoType, parseProtoFile } from '../../../assets/protobuf/proto-file.ts';
import { ProtoError } from '../../../assets/protobuf/proto-tokens.ts';
import { defaultGrpc, type GrpcForm } from '../../../security/content/waf/grpc-call.ts';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';

type Grpc = WafValues['wafModules']['http']['grpc'];

const mark = '{{payload}}';

/** Calls of the place `grpc`; problems of a description are reported as issues. */
export const grpcFormOf = (scope: PlanScope, { method, proto, messageJson }: Grpc): GrpcForm => {
  const plain = { ...defaultGrpc, method };
  const refuse = (member: string, code: string, message: string): GrpcForm => {
    scope.issues.error(pointerIn(scope, 'wafModules', 'http', 'grpc', member), code, message);
    return plain;
  };
  if (proto === undefined)
    return messageJson === undefined
      ? plain
      : refuse('messageJson', 'NOT_SUPPORTED', 'needs proto, which describes the message');
  if (messageJson?.includes(mark) !== true)
    return refuse('messageJson', 'MESSAGE_INVALID', `must say where payloads go, by ${mark} in a text`);
  try {
    return describedForm(method, proto, messageJson);
  } catch (error) {
    if (error instanceof ProtoError) return refuse('proto', 'PROTO_INVALID', error.message);
    if (error instanceof SyntaxError) return refuse('messageJson', 'MESSAGE_INVALID', error.message);
    throw error;
  }
};

const describedForm = (method: string, proto: string, messageJson: string): GrpcForm => {
  const file = parseProtoFile(proto);
  const described = file.methods.get(method);
  if (described === undefined) {
    const known = [...file.methods.keys()].slice(0, 10).join(', ') || 'none';
    throw new ProtoError(`has no method ${method}; it has ${known}`);
  }
  const type = findProtoType(file, described.scope, described.input);
  if (type === undefined || !file.messages.has(type))
    throw new ProtoError(`the message ${described.input} is not in the file`);
  const content: unknown = JSON.parse(messageJson);
  const messageOf = (text: string) => encodeProto(file, type, filled(content, text));
  messageOf('');
  return { method, messageOf };
};

/** The content with a payload where it is to be. */
const filled = (content: unknown, payload: string): unknown => {
  if (typeof content === 'string') return content.replaceAll(mark, () => payload);
  if (Array.isArray(content)) return content.map((one) => filled(one, payload));
  if (typeof content !== 'object' || content === null) return content;
  return Object.fromEntries(Object.entries(content).map(([name, value]) => [name, filled(value, payload)]));
};
