import type { RenderedRequest } from './render.ts';

/** A request as it goes over the wire; of HTTP/2 the same in the form of HTTP/1.1, of DNS the name asked for. */
export const wireBytes = (request: RenderedRequest): Buffer => {
  if (request.kind === 'raw') return request.data;
  if (request.kind === 'dns') return Buffer.from(request.qname, 'latin1');
  const { method, path, version, headers, body, exact } = request;
  const has = (wanted: string) => headers.some(({ name }) => name.toLowerCase() === wanted);
  const lines = [
    `${method} ${path} HTTP/${version === '2' ? '1.1' : version}`,
    ...(has('host') || exact ? [] : ['Host: server.test']),
    ...headers.map(({ name, value }) => `${name}: ${value}`),
    ...(!exact && body.length > 0 && !has('content-length') && !has('transfer-encoding')
      ? [`Content-Length: ${body.length}`]
      : []),
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body]);
};
