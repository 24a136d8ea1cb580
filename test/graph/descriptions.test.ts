import {
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedDirective,
  isSpecifiedScalarType,
} from 'graphql';
import { SCHEMA } from './explore';

/** Everything in the schema that a reader meets and that has no words, by its place. */
function undescribed(): string[] {
  const missing: string[] = [];
  const check = (place: string, { description }: { description?: string | null }): void => {
    if (!description?.trim()) missing.push(place);
  };
  for (const type of Object.values(SCHEMA.getTypeMap())) {
    if (isIntrospectionType(type) || isSpecifiedScalarType(type)) continue;
    // The root needs none: every field of it says what it answers.
    if (type !== SCHEMA.getQueryType()) check(type.name, type);
    if (isEnumType(type)) for (const value of type.getValues()) check(`${type.name}.${value.name}`, value);
    if (isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)) {
      for (const field of Object.values(type.getFields())) {
        check(`${type.name}.${field.name}`, field);
        if ('args' in field) for (const argument of field.args) check(`${type.name}.${field.name}(${argument.name})`, argument);
      }
    }
  }
  for (const directive of SCHEMA.getDirectives()) if (!isSpecifiedDirective(directive)) check(`@${directive.name}`, directive);
  return missing;
}

test('every type, field, argument and enum value of the schema is described', () => {
  expect(undescribed()).toEqual([]);
});
