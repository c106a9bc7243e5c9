export { type Call, type Client, createClient, RequestFailed, type Send } from './client.ts';
export { cookieJar } from './cookie-jar.ts';
