import { type TProperties, Type } from 'typebox';
import { Data } from '../envelopes.ts';
import { collection, route } from '../route.ts';
import { optional, StrictObject } from '../schema.ts';
import { Settings, SettingsPatch } from '../settings.ts';

/** `sendTest` sends a notification now: to a webhook of the settings, or to a mail address. */
const SettingsBody = Type.Unsafe<SettingsPatch & { sendTest?: { webhook?: string; mail?: string } }>({
  ...SettingsPatch,
  properties: {
    ...(SettingsPatch as unknown as { properties: TProperties }).properties,
    sendTest: StrictObject({
      webhook: optional.string({ maxLength: 2048, description: 'URL of a webhook of the settings' }),
      mail: optional.string({ maxLength: 254, description: 'Address that a mail is sent to' }),
    }),
  },
});

export const settings = collection({
  tag: 'settings',
  title: 'Settings',
  routes: {
    get: route('GET /settings', {
      summary: 'All settings, secrets masked',
      access: 'settings.read',
      reply: Data(Settings),
    }),
    update: route('PATCH /settings', {
      summary: 'Change settings; what you leave out stays',
      access: 'settings.write',
      body: SettingsBody,
      errors: [409],
    }),
  },
});
