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
  const sent = behaviour === 'reorder' ? pairs.reverse() : pairs;
  const out = request({ host, port: upstreamPort, method: req.method, path: req.url, headers: sent.flat() }, (answer) => {
    res.writeHead(answer.statusCode, answer.headers);
    answer.pipe(res);
  });
  out.on('error', () => res.destroy());
  out.end(body);
};
createServer((req, res) => {
  const parts = [];
  req.on('data', (part) => parts.push(part)).on('end', () => {
    const body = Buffer.concat(parts);
    const isHit = isAttack(req, body.toString()) && !req.url.includes('proof=') && req.headers['x-traffic-test'];
    if (behaviour === 'tarpit' && isHit) setTimeout(() => pass(req, body, res), 5000);
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
  /** reorder: headers come in another order; tarpit: attacks wait 5 s; truncate: attacks get a part of a page. */
  readonly behaviour: 'reorder' | 'tarpit' | 'truncate';
}

/** A proxy that does what no configuration of a common one does. */
export const startScriptedProxy = async (lab: Lab, { port, upstream, behaviour }: ScriptedOptions) => {
  const path = lab.file('proxy.mjs', script);
  const stop = lab.startInDevice(process.execPath, path, String(port), upstream, behaviour);
  await untilListening(lab, port);
  return stop;
};
