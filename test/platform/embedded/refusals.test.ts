// Which statements the front takes for what they are, and which it lets pass.
import { expect, test } from 'vitest';
import { refusalOf } from '../../../src/platform/embedded/refusals.ts';
import { outlineStatements } from '../../../src/platform/embedded/sql-statements.ts';

test.each([
  ['select 1', ['select']],
  ['SELECT a FROM b; ; UPDATE c SET d = 1;', ['select a from b', 'update c set d']],
  ["select 'it''s; copy' as a -- ; copy\n, b", ['select as a b']],
  ["select E'\\'; copy t from stdin; --'", ['select e']],
  ["select '\\'; copy t from stdin", ['select', 'copy t from stdin']],
  ['select "a;""b" from "copy"', ['select from']],
  ['select $$;copy$$, $x$ $$ ; $x$; listen a', ['select', 'listen a']],
  ['/* /* ; */ copy */ listen a', ['listen a']],
  ['select $1::text, $2', ['select text']],
  ["select 'never closed; copy", ['select']],
  ['select f (1)', ['select f ( )']],
])('the statements of %j are %j', (sql, outlines) => {
  expect(outlineStatements(sql).map(({ code }) => code)).toEqual(outlines);
});

test.each([
  'LISTEN a',
  ' \n/* x */ copy t (a, b) from stdin with (format csv)',
  'select 1; set search_path = x',
  'SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY',
  '-- first\nSET a = 1',
  'discard all',
  'create temporary table t as select 1',
  'create local temp table t (a int) on commit delete rows',
  'select PG_ADVISORY_LOCK_SHARED(1)',
  'select pg_advisory_unlock_all()',
])('%j is refused', (sql) => {
  expect(refusalOf(sql)?.code).toBe('0A000');
});

test.each([
  'UPDATE t SET listen = 1, copy = 2',
  'insert into copy values (1)',
  'set local lock_timeout = 1000',
  'SET TRANSACTION ISOLATION LEVEL SERIALIZABLE',
  'set constraints all deferred',
  'create temp table t (a int) on commit drop',
  'select pg_advisory_xact_lock(1), pg_try_advisory_xact_lock(2)',
  "select 'pg_advisory_lock(1)', 'LISTEN'",
  'declare c cursor for select 1',
  "notify a, 'b'",
  'select prepare, execute from load',
])('%j passes', (sql) => {
  expect(refusalOf(sql)).toBeUndefined();
});
