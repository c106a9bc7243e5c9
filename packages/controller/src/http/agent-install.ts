import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { AgentArchive } from '../agents/agent-archives.ts';
import type { Installer } from '../agents/installer.ts';
import { noRoute, setSafeHeaders } from './errors.ts';

const sendArchive = (reply: FastifyReply, archive: AgentArchive, isCompressed: boolean) => {
  const stored = createReadStream(archive.file);
  // A reader that goes away ends both streams; there is no one to report it to.
  const content = isCompressed ? stored : pipeline(stored, createGunzip(), () => {});
  return setSafeHeaders(reply)
    .header('content-length', isCompressed ? archive.bytes : archive.tarBytes)
    .type(isCompressed ? 'application/gzip' : 'application/x-tar')
    .send(content);
};

/** `/agent/install.sh` and the archives it fetches, for machines that are to become agents. */
export const serveAgentInstall = (app: FastifyInstance, installer: Installer) => {
  app.get('/agent/install.sh', async (request, reply) => {
    const { url } = installer.addressFor(request.headers.host, request.protocol);
    return setSafeHeaders(reply)
      .type('text/x-shellscript; charset=utf-8')
      .send(await installer.scriptFor(url));
  });
  app.get<{ Params: { name: string } }>('/agent/:name', async ({ method, url, params: { name } }, reply) => {
    const found = (await installer.archives.list()).find(({ file }) =>
      [`${name}.gz`, name].some((wanted) => file.endsWith(`/${wanted}`)),
    );
    if (found === undefined) throw noRoute(method, url);
    return sendArchive(reply, found, name.endsWith('.gz'));
  });
};
