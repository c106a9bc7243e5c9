import { Type } from 'typebox';

export const GroupPermission = Type.Object(
  { value: Type.Integer({ minimum: 1, maximum: 100_000, description: 'An integer of the permissions map' }) },
  { title: 'GroupPermission', additionalProperties: false },
);
