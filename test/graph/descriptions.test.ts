import fs from 'node:fs';
import path from 'node:path';
import {
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedDirective,
  isSpecifiedScalarType,
} from 'graphql';
import { CATEGORIES } from '../../src/lib/category';
import { TIMEFRAMES } from '../../src/lib/timeframe';
import { LEAN } from '../../src/venues/lp/queries/dca-pressure';
import { SMART_SCORE as SMART_PROVIDER } from '../../src/venues/lp/scoring/formula';
import * as perps from '../../src/venues/perps/tier';
import { D_INS } from '../../src/venues/prediction/scoring/insider';
import * as prediction from '../../src/venues/prediction/scoring/tiers';
import { ROOT } from '../support/root';
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

test('the closed lists that scalars tell are those that are read', () => {
  const told = (name: string): string | null | undefined => SCHEMA.getType(name)?.description;
  expect(told('Timeframe')).toContain(`: ${TIMEFRAMES.join(', ')}.`);
  expect(told('Category')).toContain(`: ${CATEGORIES.join(', ')}.`);
});

test('every type, field, argument and enum value of the schema is described', () => {
  expect(undescribed()).toEqual([]);
});

/** What the schema of a wing says, without its lines. */
const wordsOf = (wing: string): string => {
  const folder = path.join(ROOT, 'graphql/schema', wing);
  const texts = fs.readdirSync(folder).map((file) => fs.readFileSync(path.join(folder, file), 'utf8'));
  return texts.join(' ').replace(/\s+/g, ' ');
};

test.each([
  ['prediction', [prediction.SMART_SCORE, D_INS.risk.high]],
  ['perps', [perps.SMART_SCORE]],
  ['lp', [SMART_PROVIDER, LEAN]],
])('scores from which something holds are told as they are: %s', (wing, bounds) => {
  const told = [...wordsOf(wing).matchAll(/scores? (?:>= |(?:was |of )?at least |of )(\d+)/g)].map(([, bound]) => Number(bound));
  expect([...new Set(told)].sort()).toEqual([...bounds].sort());
});

test.each([
  ['prediction', prediction],
  ['perps', perps],
])('tiers are told as they are: %s', (wing, { ELITE_SCORE, SMART_SCORE, AVERAGE_SCORE }) => {
  const told = wordsOf(wing).match(/elite from[^"]+/g) ?? [];
  expect(told.length).toBeGreaterThan(0);
  for (const text of told)
    expect(text).toContain(`elite from ${ELITE_SCORE}, smart from ${SMART_SCORE}, average from ${AVERAGE_SCORE}, novice below`);
});
