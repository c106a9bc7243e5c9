import Fastify from 'fastify';

// The reference for the API: the fastest Fastify route, a constant object with a schema.
const bytes = Number(process.argv[2] ?? 300);
const app = Fastify();
const reply = { text: 'x'.repeat(Math.max(0, bytes - 11)) };
const schema = { response: { 200: { type: 'object', properties: { text: { type: 'string' } } } } };
app.get('/', { schema }, async () => reply);
process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }));
