import { isIP } from 'node:net';
import type { Attempt } from '@rushhour/protocol';
import type { AttackRoute, ClientContext, ProofOutcome } from '../../driver.ts';
import { arrivalOf, proofOf } from '../../proof.ts';
import { ClientConnection } from '../../transport/client-connection.ts';
import { withHello } from '../../transport/packet-shapes.ts';
import { readAnswer } from '../read-answer.ts';
import { emptyMessage, grpcHeaders } from './grpc-proof.ts';
import { withoutCoding } from './http-changes.ts';
import { markerHeader, statusIn, writeMessage } from './http-form.ts';
import { hostIn, hostOf, serverNamed } from './http-names.ts';
import { type HttpMessage, headerIn } from './http-reader.ts';
import { askHttp2, type Http2Request } from './http2-client.ts';
import { plainHeaders } from './http2-form.ts';

const agentName = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Safari/537.36';
const neutralHost = 'server.test';

/** Host of a proof: that of the attempt before it, the configured one, or a name. A numeric Host is an anomaly of its own. */
const proofHostOf = (route: AttackRoute, context: ClientContext, after: Attempt | undefined): string => {
  const [step] = after?.exchange.protocol === 'http' ? after.exchange.steps : [];
  const named = (step && hostIn(step)) ?? context.proofHost;
  if (named !== undefined && named !== '') return named;
  return isIP(route.host) === 0 ? hostOf(route) : neutralHost;
};

interface Asking {
  readonly route: AttackRoute;
  readonly context: ClientContext;
  readonly host: string;
  /** The nonce and the attempt that is asked about, as in a query. */
  readonly query: string;
}

interface Asked {
  readonly ip: string;
  readonly answer?: Pick<HttpMessage, 'headers' | 'body'> & { readonly status: number };
  /** Why there is no answer. */
  readonly detail: string;
}

const pathOf = ({ context, query }: Asking): string => {
  const path = context.proofPath.endsWith('/') ? `${context.proofPath}status` : context.proofPath;
  return `${path}?${query}`;
};

const detailOf = ({ connect, end }: { connect: string; end: string }) => `no answer: connect ${connect}, end ${end}`;

const askHttp1 = async (asking: Asking): Promise<Asked> => {
  const { route, context, host } = asking;
  const connection = await ClientConnection.open(route, context);
  const bytes = writeMessage({
    startLine: `GET ${pathOf(asking)} HTTP/1.1`,
    headers: [],
    body: Buffer.alloc(0),
    isChunked: false,
    added: [
      { name: 'Host', value: host },
      { name: 'User-Agent', value: agentName },
      { name: 'Accept', value: '*/*' },
      { name: 'Connection', value: 'close' },
    ],
  });
  const plain = Buffer.from(bytes.toString('latin1').replace('Content-Length: 0\r\n', ''), 'latin1');
  const answer = connection.isOpen && (await connection.write(plain)) ? await readAnswer(connection, 'GET') : undefined;
  connection.close();
  const asked = { ip: connection.ip, detail: detailOf(connection) };
  return answer === undefined ? asked : { ...asked, answer: { ...answer, status: statusIn(answer) } };
};

const requestOf = (asking: Asking): Http2Request => {
  const { route, host, query, context } = asking;
  const common = { ':scheme': route.isTls ? 'https' : 'http', ':authority': host };
  const { proofGrpcPath } = context;
  if (proofGrpcPath === undefined) {
    const headers = { 'user-agent': agentName, accept: '*/*' };
    return { headers: { ':method': 'GET', ':path': pathOf(asking), ...common, ...headers }, body: Buffer.alloc(0) };
  }
  const headers = { ...plainHeaders(grpcHeaders), [markerHeader]: query };
  return { headers: { ':method': 'POST', ':path': proofGrpcPath, ...common, ...headers }, body: emptyMessage };
};

const askByHttp2 = async (asking: Asking): Promise<Asked> => {
  const outcome = await askHttp2(requestOf(asking), asking.route, asking.context);
  const asked = { ip: outcome.ip, detail: detailOf(outcome) };
  return outcome.answer === undefined ? asked : { ...asked, answer: outcome.answer };
};

/** A harmless request with a nonce that only our own server can answer. */
export const proveHttp = async (
  nonce: string,
  route: AttackRoute,
  context: ClientContext,
  after?: Attempt,
): Promise<ProofOutcome> => {
  const host = proofHostOf(route, context, after);
  const query = `proof=${nonce}${after === undefined ? '' : `&id=${after.id}`}`;
  const asking = { route: { ...withHello(route, after?.exchange), ...serverNamed(host) }, context, host, query };
  const { ip, answer, detail } = await (context.proofVersion === '2' ? askByHttp2 : askHttp1)(asking);
  return answer === undefined ? { ip, isGood: false, detail } : judgeProof(answer, { nonce, after, ip }, context);
};

const judgeProof = (
  answer: NonNullable<Asked['answer']>,
  { nonce, after, ip }: { nonce: string; after: Attempt | undefined; ip: string },
  { proofKey }: ClientContext,
): ProofOutcome => {
  const { body } = withoutCoding({ mode: 'canned', status: 200, headers: [] }, answer.headers, answer.body);
  const text = `${body.toString('latin1')}\n${headerIn(answer, markerHeader) ?? ''}`;
  // A device may add to the answer; the proof itself cannot be made by anything else.
  const hasArrived = after !== undefined && text.includes(proofOf(proofKey, arrivalOf(nonce, after.id)));
  const isGood = hasArrived || text.includes(proofOf(proofKey, nonce));
  return { ip, isGood, hasArrived, detail: isGood ? '' : `an answer with status ${answer.status} that is not ours` };
};
