import { Type } from 'typebox';
import { StrictComponent } from '../schema.ts';

export const GroupPermission = StrictComponent('GroupPermission', {
  value: Type.Integer({ minimum: 1, maximum: 100_000, description: 'An integer of the permissions map' }),
});
