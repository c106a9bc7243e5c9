import type { Attempt, FileExchange } from '@rushhour/protocol';
import type { AttackRoute, ClientScene, ClientSight, ProofSight, ProtocolDriver } from '../driver.ts';
import { proofOf, tokenOf } from '../proof.ts';
import { LineClient, marksOf, sightOf } from './line-client.ts';
import { type LineSession, listenLines, nonceOfName, type Talk } from './line-server.ts';
import { attachedFile, mailOf } from './mail-message.ts';

const ending = Buffer.from('\r\n.\r\n');
const isFine = (reply: string | undefined): reply is string => reply?.startsWith('+OK') ?? false;

const attemptPop3 = async (attempt: Attempt, route: AttackRoute, scene: ClientScene): Promise<ClientSight> => {
  const exchange = attempt.exchange as FileExchange;
  const content = scene.bytesOf(exchange.content);
  const { token, proof } = marksOf(attempt, scene);
  const client = await LineClient.open(route, scene);
  let isComplete = false;
  let received: Buffer | undefined;
  const talk = async (): Promise<string | undefined> => {
    let reply = client.dialog.isOpen ? await client.line() : undefined;
    for (const line of [`USER ${token}`, 'PASS x', 'RETR 1']) {
      if (!isFine(reply)) return reply;
      isComplete = line === 'RETR 1';
      reply = (await client.send(line)) ? await client.line() : undefined;
    }
    if (!isFine(reply)) return reply;
    const mail = await client.until(ending);
    if (mail === undefined) return undefined;
    received = attachedFile(mail) ?? mail;
    return reply;
  };
  const reply = await talk();
  return sightOf({ client, content, exchange, proof, isComplete, reply, received });
};

const provePop3 = async (nonce: string, route: AttackRoute, scene: ClientScene): Promise<ProofSight> => {
  const client = await LineClient.open(route, scene);
  const greeting = client.dialog.isOpen ? await client.line() : undefined;
  const isSent = isFine(greeting) && (await client.send(`USER proof-${nonce}`));
  const reply = isSent ? await client.line() : greeting;
  const isGood = reply?.includes(proofOf(scene.proofKey, nonce)) ?? false;
  client.dialog.close();
  return { ip: client.dialog.ip, isGood, detail: isGood ? '' : (reply ?? client.dialog.end) };
};

const giveMail = (talk: Talk, runToken: string): undefined => {
  const { exchange, attempt, content } = talk;
  if (exchange === undefined || attempt === undefined) return;
  talk.received = Buffer.from(exchange.name);
  talk.sent = Buffer.from(content);
  talk.say('+OK a mail follows');
  talk.socket.write(Buffer.concat([mailOf(tokenOf(runToken, attempt.id), exchange, content), Buffer.from('.\r\n')]));
};

const createSession = (runToken: string) => (): LineSession => ({
  greeting: '+OK receiver.test',
  onLine(line, talk) {
    const [verb = '', name = ''] = line.split(' ');
    switch (verb.toUpperCase()) {
      case 'USER': {
        const nonce = nonceOfName(name);
        if (nonce === undefined) return talk.recognise(name) ? '+OK' : '-ERR nobody of that name';
        talk.hush();
        return `+OK ${talk.proofFor(nonce)}`;
      }
      case 'PASS':
        return talk.attempt === undefined ? '-ERR no' : '+OK';
      case 'STAT':
        return '+OK 1 1000';
      case 'RETR':
        return talk.attempt === undefined ? '-ERR no' : giveMail(talk, runToken);
      case 'QUIT':
        talk.socket.end();
        return '+OK';
      default:
        return '-ERR not known here';
    }
  },
});

/** Mail with the file attached, fetched by the client. */
export const pop3Driver: ProtocolDriver = {
  protocols: ['pop3'],
  attempt: attemptPop3,
  prove: provePop3,
  listen: (place, scene) => listenLines(place, scene, createSession(scene.runToken)),
};
