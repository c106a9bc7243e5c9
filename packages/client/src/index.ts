export { createClient } from './client.ts';
export { cookieJar } from './cookie-jar.ts';
export { type Call, type Client, RequestFailed, type Send } from './routes-client.ts';
