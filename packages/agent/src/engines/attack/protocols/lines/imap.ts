import type { Attempt, FileExchange } from '@rushhour/protocol';
import type { AttackRoute, ClientContext, ClientOutcome, ProofOutcome, ProtocolDriver } from '../../driver.ts';
import { proofOf, tokenOf } from '../../proof.ts';
import { LineClient, marksOf, outcomeOf, proofOutcome } from './line-client.ts';
import { type LineConnection, type LineSession, listenLines, nonceOfName } from './line-server.ts';
import { attachedFile, mailOf } from './mail-message.ts';

/** Reads until the tagged line that ends a reply. */
const tagged = async (client: LineClient, tag: string): Promise<string | undefined> => {
  for (;;) {
    const line = await client.line();
    if (line === undefined || line.startsWith(`${tag} `)) return line;
  }
};

const sendLine = async (client: LineClient, tag: string, command: string): Promise<string | undefined> =>
  (await client.send(`${tag} ${command}`)) ? tagged(client, tag) : undefined;

const isPositive = (reply: string | undefined) => reply !== undefined && / OK/.test(reply);
/** Size of the literal announced by a line. */
const literalIn = (line: string) => Number(/\{(\d{1,9})\}$/.exec(line)?.[1] ?? -1);

const login = async (client: LineClient, name: string): Promise<string | undefined> => {
  const greeting = client.connection.isOpen ? await client.line() : undefined;
  return greeting?.startsWith('* OK') ? sendLine(client, 'a', `LOGIN ${name} x`) : greeting;
};

interface Transfer {
  readonly client: LineClient;
  readonly mail: Buffer;
}

const fetchMail = async ({ client }: Transfer) => {
  if (!(await client.send('c FETCH 1 BODY[]'))) return { isComplete: false, reply: undefined };
  const line = await client.line();
  const length = literalIn(line ?? '');
  if (line === undefined || length < 0) return { isComplete: true, reply: line };
  const mail = await client.exactly(length);
  return { isComplete: true, reply: line, received: mail && (attachedFile(mail) ?? mail) };
};

const appendMail = async ({ client, mail }: Transfer) => {
  const isAsked = await client.send(`c APPEND INBOX {${mail.length}}`);
  const go = isAsked ? await client.line() : undefined;
  if (!go?.startsWith('+')) return { isComplete: false, reply: go };
  const isComplete = await client.connection.write(Buffer.concat([mail, Buffer.from('\r\n')]));
  return { isComplete, reply: await tagged(client, 'c') };
};

const attemptImap = async (attempt: Attempt, route: AttackRoute, context: ClientContext): Promise<ClientOutcome> => {
  const exchange = attempt.exchange as FileExchange;
  const content = context.bytesOf(exchange.content);
  const { token, proof } = marksOf(attempt, context);
  const client = await LineClient.open(route, context);
  const known = { client, content, exchange, proof };
  let reply = await login(client, token);
  if (isPositive(reply)) reply = await sendLine(client, 'b', 'SELECT INBOX');
  if (!isPositive(reply)) return outcomeOf({ ...known, isComplete: false, reply });
  const transfer = { client, mail: mailOf(token, exchange, content) };
  return outcomeOf({ ...known, ...(await (exchange.direction === 'up' ? appendMail : fetchMail)(transfer)) });
};

const proveImap = async (nonce: string, route: AttackRoute, context: ClientContext): Promise<ProofOutcome> => {
  const client = await LineClient.open(route, context);
  const reply = await login(client, `proof-${nonce}`);
  return proofOutcome(client, reply, proofOf(context.proofKey, nonce));
};

const giveMail = (connection: LineConnection, tag: string, runToken: string): string => {
  const { exchange, attempt, content } = connection;
  if (exchange === undefined || attempt === undefined) return `${tag} NO`;
  const mail = mailOf(tokenOf(runToken, attempt.id), exchange, content);
  connection.received = Buffer.from(exchange.name);
  connection.sent = Buffer.from(content);
  connection.sendLine(`* 1 FETCH (BODY[] {${mail.length}}`);
  connection.socket.write(mail);
  connection.sendLine(')');
  return `${tag} OK`;
};

const takeMail = async (connection: LineConnection, tag: string, length: number): Promise<string> => {
  connection.sendLine('+ go on');
  const mail = await connection.take({ length: length + 2 });
  connection.received = attachedFile(mail) ?? Buffer.from('nothing is attached');
  const reply = `${tag} OK taken ${connection.proof}`;
  connection.sent = Buffer.from(reply);
  return reply;
};

const createSession = (runToken: string) => (): LineSession => ({
  greeting: '* OK receiver.test IMAP4rev1',
  onLine(line, connection) {
    const [tag = '*', verb = '', name = ''] = line.split(' ');
    switch (verb.toUpperCase()) {
      case 'LOGIN': {
        const nonce = nonceOfName(name);
        if (nonce === undefined) return connection.identify(name) ? `${tag} OK` : `${tag} NO nobody of that name`;
        connection.skipReport();
        return `${tag} NO ${connection.proofFor(nonce)}`;
      }
      case 'SELECT':
        connection.sendLine('* 1 EXISTS');
        return `${tag} OK`;
      case 'FETCH':
        return giveMail(connection, tag, runToken);
      case 'APPEND':
        return literalIn(line) < 0 ? `${tag} BAD` : takeMail(connection, tag, literalIn(line));
      case 'CAPABILITY':
        connection.sendLine('* CAPABILITY IMAP4rev1');
        return `${tag} OK`;
      case 'LOGOUT':
        connection.socket.end();
        return `${tag} OK`;
      default:
        return `${tag} BAD not known here`;
    }
  },
});

/** Mail with the file attached, fetched from a mailbox or put into it. */
export const imapDriver: ProtocolDriver = {
  protocols: ['imap'],
  attempt: attemptImap,
  prove: proveImap,
  listen: (endpoint, context) => listenLines(endpoint, context, createSession(context.runToken)),
};
