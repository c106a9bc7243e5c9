import { Type } from 'typebox';
import { Data } from '../envelopes.ts';
import { collection, route } from '../route.ts';
import { Settings, SettingsPatch } from '../settings.ts';

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
      body: Type.Unsafe<SettingsPatch>(SettingsPatch),
      errors: [409],
    }),
  },
});
