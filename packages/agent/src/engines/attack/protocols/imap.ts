import type { Attempt, FileExchange } from '@rushhour/protocol';
import type { AttackRoute, ClientScene, ClientSight, ProofSight, ProtocolDriver } from '../driver.ts';
import { proofOf, tokenOf } from '../proof.ts';
import { LineClient, marksOf, sightOf } from './line-client.ts';
import { type LineSession, listenLines, nonceOfName, type Talk } from './line-server.ts';
import { attachedFile, mailOf } from './mail-message.ts';

/** The tagged line that ends a reply; the lines before it are of no interest. */
const tagged = async (client: LineClient, tag: string): Promise<string | undefined> => {
  for (;;) {
    const line = await client.line();
    if (line === undefined || line.startsWith(`${tag} `)) return line;
  }
};

const say = async (client: LineClient, tag: string, command: string): Promise<string | undefined> =>
  (await client.send(`${tag} ${command}`)) ? tagged(client, tag) : undefined;

const isFine = (reply: string | undefined) => reply !== undefined && / OK/.test(reply);
/** Bytes that a line announces. */
const literalIn = (line: string) => Number(/\{(\d{1,9})\}$/.exec(line)?.[1] ?? -1);

const login = async (client: LineClient, name: string): Promise<string | undefined> => {
  const greeting = client.dialog.isOpen ? await client.line() : undefined;
  return greeting?.startsWith('* OK') ? say(client, 'a', `LOGIN ${name} x`) : greeting;
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
  const isComplete = await client.dialog.write(Buffer.concat([mail, Buffer.from('\r\n')]));
  return { isComplete, reply: await tagged(client, 'c') };
};

const attemptImap = async (attempt: Attempt, route: AttackRoute, scene: ClientScene): Promise<ClientSight> => {
  const exchange = attempt.exchange as FileExchange;
  const content = scene.bytesOf(exchange.content);
  const { token, proof } = marksOf(attempt, scene);
  const client = await LineClient.open(route, scene);
  const known = { client, content, exchange, proof };
  let reply = await login(client, token);
  if (isFine(reply)) reply = await say(client, 'b', 'SELECT INBOX');
  if (!isFine(reply)) return sightOf({ ...known, isComplete: false, reply });
  const transfer = { client, mail: mailOf(token, exchange, content) };
  return sightOf({ ...known, ...(await (exchange.direction === 'up' ? appendMail : fetchMail)(transfer)) });
};

const proveImap = async (nonce: string, route: AttackRoute, scene: ClientScene): Promise<ProofSight> => {
  const client = await LineClient.open(route, scene);
  const reply = await login(client, `proof-${nonce}`);
  const isGood = reply?.includes(proofOf(scene.proofKey, nonce)) ?? false;
  client.dialog.close();
  return { ip: client.dialog.ip, isGood, detail: isGood ? '' : (reply ?? client.dialog.end) };
};

const giveMail = (talk: Talk, tag: string, runToken: string): string => {
  const { exchange, attempt, content } = talk;
  if (exchange === undefined || attempt === undefined) return `${tag} NO`;
  const mail = mailOf(tokenOf(runToken, attempt.id), exchange, content);
  talk.received = Buffer.from(exchange.name);
  talk.sent = Buffer.from(content);
  talk.say(`* 1 FETCH (BODY[] {${mail.length}}`);
  talk.socket.write(mail);
  talk.say(')');
  return `${tag} OK`;
};

const takeMail = async (talk: Talk, tag: string, length: number): Promise<string> => {
  talk.say('+ go on');
  const mail = await talk.take({ length: length + 2 });
  talk.received = attachedFile(mail) ?? Buffer.from('nothing is attached');
  const reply = `${tag} OK taken ${talk.proof}`;
  talk.sent = Buffer.from(reply);
  return reply;
};

const createSession = (runToken: string) => (): LineSession => ({
  greeting: '* OK receiver.test IMAP4rev1',
  onLine(line, talk) {
    const [tag = '*', verb = '', name = ''] = line.split(' ');
    switch (verb.toUpperCase()) {
      case 'LOGIN': {
        const nonce = nonceOfName(name);
        if (nonce === undefined) return talk.recognise(name) ? `${tag} OK` : `${tag} NO nobody of that name`;
        talk.hush();
        return `${tag} NO ${talk.proofFor(nonce)}`;
      }
      case 'SELECT':
        talk.say('* 1 EXISTS');
        return `${tag} OK`;
      case 'FETCH':
        return giveMail(talk, tag, runToken);
      case 'APPEND':
        return literalIn(line) < 0 ? `${tag} BAD` : takeMail(talk, tag, literalIn(line));
      case 'CAPABILITY':
        talk.say('* CAPABILITY IMAP4rev1');
        return `${tag} OK`;
      case 'LOGOUT':
        talk.socket.end();
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
  listen: (place, scene) => listenLines(place, scene, createSession(scene.runToken)),
};
