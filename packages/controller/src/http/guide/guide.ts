import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Asset, serveAsset } from '../asset.ts';
import { addressOf, documentFiles, fileAt, readRepositoryFile, resolverOf } from './guide-files.ts';
import { guidePage, guidePolicy, guideStyle } from './guide-page.ts';

const types: Readonly<Record<string, string>> = { svg: 'image/svg+xml', png: 'image/png' };
const startFile = 'docs/README.md';

const pageOf = (file: string, markdown = readRepositoryFile(file).toString()) => ({
  markdown,
  address: addressOf(file),
  resolve: resolverOf(file),
});

/** The start page; documents that it does not mention are added, so that every page can be found. */
const startPage = () => {
  const { markdown, ...page } = pageOf(startFile);
  const more = documentFiles().filter((name) => name !== 'README.md' && !markdown.includes(`](${name})`));
  const links = more.map(
    (name) => `- [${/^# (.+)$/m.exec(readRepositoryFile(`docs/${name}`).toString())?.[1] ?? name}](${name})`,
  );
  return { ...page, markdown: more.length === 0 ? markdown : `${markdown}\n## More\n\n${links.join('\n')}\n` };
};

const htmlOf = (page: ReturnType<typeof pageOf>): Asset => ({
  type: 'text/html; charset=utf-8',
  read: () => guidePage(page, startPage()),
});

/** A page made from the contract, a document, a picture or another file; nothing if there is none. */
const assetAt = async (address: string): Promise<Asset | undefined> => {
  if (address.startsWith('reference')) {
    // Loaded at its first request: few ask for it.
    const { referencePage } = await import('./reference/reference.ts');
    const made = referencePage(address);
    if (made !== undefined) return htmlOf(pageOf(`docs/${address}.md`, made));
  }
  if (address === '') return htmlOf(startPage());
  const file = fileAt(address);
  if (file === undefined) return undefined;
  const ending = file.split('.').at(-1) ?? '';
  if (ending === 'md') return htmlOf(pageOf(file));
  return { type: types[ending] ?? 'text/plain; charset=utf-8', read: async () => readRepositoryFile(file) };
};

const notFoundPage = (address: string) =>
  guidePage(
    pageOf('docs/', `# There is no such page\n\nThe guide has no page \`${address.replace(/[^\w/.-]/g, '')}\`.`),
    startPage(),
  );

/** The documents of the repository and the reference of the contract as a site. */
export const serveGuide = (app: FastifyInstance) => {
  const served = new Map<string, ReturnType<typeof serveAsset>>();
  const answer = async (address: string, request: FastifyRequest, reply: FastifyReply) => {
    reply.header('content-security-policy', guidePolicy);
    const known = served.get(address);
    if (known !== undefined) return known(request, reply);
    const asset = await assetAt(address);
    if (asset === undefined) return reply.code(404).type('text/html; charset=utf-8').send(notFoundPage(address));
    const serve = serveAsset(asset);
    served.set(address, serve);
    return serve(request, reply);
  };
  app.get('/guide', (request, reply) => answer('', request, reply));
  app.get('/guide/style.css', serveAsset({ type: 'text/css; charset=utf-8', read: () => guideStyle }));
  app.get<{ Params: { '*': string } }>('/guide/*', (request, reply) => answer(request.params['*'], request, reply));
};
