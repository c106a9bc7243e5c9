import { type Lab, untilListening } from './lab.ts';

interface NginxOptions {
  readonly port: number;
  readonly upstream: string;
  /** Of the server. */
  readonly lines?: string;
  /** Of all servers. */
  readonly http?: string;
  /** Path of the upstream, which makes nginx send normalised URIs. */
  readonly path?: string;
  /** Requests for other names are cut off. */
  readonly name?: string;
}

/** A plain reverse proxy. */
export const startNginx = async (
  lab: Lab,
  { port, upstream, lines = '', http = '', path = '', name }: NginxOptions,
) => {
  const id = `nginx-${port}`;
  const config = lab.file(
    `${id}.conf`,
    `
    worker_processes 1;
    daemon off;
    pid ${lab.folder}/${id}.pid;
    error_log ${lab.folder}/${id}.log crit;
    events { worker_connections 256; }
    http {
      access_log off;
      client_body_temp_path ${lab.folder};
      proxy_temp_path ${lab.folder};
      fastcgi_temp_path ${lab.folder};
      uwsgi_temp_path ${lab.folder};
      scgi_temp_path ${lab.folder};
      ${http}
      ${name === undefined ? '' : `server { listen ${port} default_server; return 444; }`}
      server {
        listen ${port};
        ${name === undefined ? '' : `server_name ${name};`}
        ${lines}
        location / {
          proxy_pass http://${upstream}${path};
          proxy_set_header Host $http_host;
          proxy_http_version 1.1;
        }
      }
    }`,
  );
  const stop = lab.startInDevice('nginx', '-c', config, '-g', 'user root;');
  await untilListening(lab, port);
  return stop;
};

/** What the scripted proxies take for an attack. */
export const markup = /%3C|<|script|onerror|javascript/i;

const script = `
import { request, createServer } from 'node:http';
const [, , port, upstream, behaviour] = process.argv;
const [host, upstreamPort] = upstream.split(':');
const isAttack = (req, body) => ${markup}.test(req.url + body);
const pass = (req, body, res) => {
  const pairs = [];
  for (let i = 0; i < req.rawHeaders.length; i += 2) pairs.push([req.rawHeaders[i], req.rawHeaders[i + 1]]);
  if (behaviour === 'forward') pairs.push(['Via', '1.1 edge'], ['X-Forwarded-For', req.socket.remoteAddress]);
  const sent = behaviour === 'reorder' ? pairs.reverse() : pairs;
  const out = request({ host, port: upstreamPort, method: req.method, path: req.url, headers: sent.flat() }, (answer) => {
    if (behaviour === 'forward') {
      res.writeHead(answer.statusCode, { ...answer.headers, via: '1.1 edge', 'strict-transport-security': 'max-age=9' });
      answer.pipe(res);
      return;
    }
    const head = { ...answer.headers };
    if (behaviour === 'trickle') delete head['content-length'];
    res.writeHead(answer.statusCode, head);
    if (behaviour !== 'trickle') return answer.pipe(res);
    const parts = [];
    answer.on('data', (part) => parts.push(part)).on('end', async () => {
      for (const byte of Buffer.concat(parts)) await new Promise((done) => res.write(Buffer.of(byte), done));
      res.end();
    });
  });
  out.on('error', () => res.destroy());
  out.end(body);
};
createServer((req, res) => {
  const parts = [];
  req.on('data', (part) => parts.push(part)).on('end', () => {
    const body = Buffer.concat(parts);
    const isHit = isAttack(req, body.toString()) && !req.url.includes('proof=') && req.headers['x-traffic-test'];
    const page = '<html><body>Please prove that you are human</body></html>';
    const closing = { 'content-type': 'text/html', connection: 'close' };
    if (behaviour === 'challenge' && isHit) res.writeHead(200, closing).end(page);
    else if (behaviour === 'redirect' && isHit) res.writeHead(302, { ...closing, location: '/blocked' }).end();
    else if (behaviour === 'close' && isHit) res.socket.end();
    else if (behaviour === 'reset' && isHit) res.socket.resetAndDestroy();
    else if (behaviour === 'sanitise' && isHit) {
      req.url = req.url.replaceAll(/%3C|<|script|onerror|javascript/gi, '');
      const clean = Buffer.from(body.toString('latin1').replaceAll(/%3C|<|script|onerror|javascript/gi, ''), 'latin1');
      const at = req.rawHeaders.findIndex((name) => name.toLowerCase() === 'content-length');
      if (at >= 0) req.rawHeaders[at + 1] = String(clean.length);
      pass(req, clean, res);
    } else if (behaviour === 'tarpit' && isHit) setTimeout(() => pass(req, body, res), 5000);
    else if (behaviour === 'truncate' && isHit) {
      res.socket.write('HTTP/1.1 403 Forbidden\\r\\nContent-Type: text/html\\r\\nContent-Length: 5000\\r\\n\\r\\n<h1>Forb');
      setTimeout(() => res.socket.destroy(), 50);
    } else pass(req, body, res);
  });
}).listen(Number(port));
`;

interface ScriptedOptions {
  readonly port: number;
  readonly upstream: string;
  /**
   * Of all requests: reorder: headers come in another order; forward: headers of proxies are added; trickle: answers
   * come byte by byte. Of attacks: tarpit: they wait 5 s; truncate: a part of a page; challenge: a page with status
   * 200; redirect: a redirect; close and reset: no answer; sanitise: markup is taken out.
   */
  readonly behaviour:
    | 'reorder'
    | 'forward'
    | 'trickle'
    | 'tarpit'
    | 'truncate'
    | 'challenge'
    | 'redirect'
    | 'close'
    | 'reset'
    | 'sanitise';
}

/** A proxy that does what no configuration of a common one does. */
export const startScriptedProxy = async (lab: Lab, { port, upstream, behaviour }: ScriptedOptions) => {
  const path = lab.file('proxy.mjs', script);
  const stop = lab.startInDevice(process.execPath, path, String(port), upstream, behaviour);
  await untilListening(lab, port);
  return stop;
};
