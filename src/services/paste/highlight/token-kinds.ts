// The kinds of token a reader can tell apart by colour, and which scopes of a grammar belong to each.
// Shiki is given a theme whose "colours" are the numbers of these kinds, so that one tokenization serves
// every rendering: classes for the pages, concrete colours for the API.
import type { ThemeRegistrationRaw } from 'shiki/core';

/** Position in this list is the kind's number; 0 is text that needs no colour. */
export const tokenKinds = [
  'text',
  'comment',
  'string',
  'escape',
  'number',
  'constant',
  'keyword',
  'function',
  'type',
  'parameter',
  'property',
  'tag',
  'punctuation',
  'heading',
  'link',
  'strong',
  'emphasis',
  'inserted',
  'deleted',
  'changed',
  'invalid',
] as const;

export type TokenKind = (typeof tokenKinds)[number];

/** Colours of the API's self-contained markup; on the background each has a contrast of at least 4.5:1. */
export const inlinePalette = {
  background: '#ffffff',
  text: '#24292f',
  comment: '#5c6670',
  string: '#0a5c36',
  escape: '#8a4b08',
  number: '#9a3412',
  constant: '#9a3412',
  keyword: '#a3195b',
  function: '#5b3db8',
  type: '#0b5f74',
  parameter: '#7a4a06',
  property: '#0b4f9e',
  tag: '#17612b',
  punctuation: '#57606a',
  heading: '#0b4f9e',
  link: '#0b4f9e',
  strong: '#24292f',
  emphasis: '#24292f',
  inserted: '#17612b',
  deleted: '#a1201d',
  changed: '#7a4a06',
  invalid: '#a1201d',
} as const satisfies Record<TokenKind | 'background', string>;

// Where scopes overlap, the more specific selector wins, as in any TextMate theme.
const scopes: readonly (readonly [TokenKind, readonly string[]])[] = [
  [
    'text',
    [
      'meta.embedded',
      'meta.template.expression',
      'string meta.embedded',
      'markup.fenced_code meta.embedded.block',
      'source.groovy.embedded',
      'variable',
    ],
  ],
  ['comment', ['comment', 'punctuation.definition.comment', 'string.quoted.docstring', 'string.comment']],
  [
    'string',
    [
      'string',
      'string.regexp',
      'punctuation.definition.string',
      'markup.inline',
      'markup.raw',
      'markup.fenced_code',
    ],
  ],
  [
    'escape',
    [
      'constant.character.escape',
      'constant.other.placeholder',
      'constant.character.format.placeholder',
      'punctuation.definition.template-expression',
      'punctuation.section.embedded',
      'string.regexp keyword',
      'string.regexp constant',
    ],
  ],
  ['number', ['constant.numeric', 'keyword.other.unit']],
  [
    'constant',
    [
      'constant',
      'constant.language',
      'variable.language',
      'variable.other.constant',
      'variable.other.enummember',
      'support.constant',
    ],
  ],
  [
    'keyword',
    [
      'keyword',
      'storage',
      'storage.type',
      'storage.modifier',
      'variable.language.super',
      'entity.name.function.preprocessor',
      'meta.preprocessor keyword',
      'keyword.operator.new',
      'keyword.operator.expression',
      'keyword.operator.word',
      'keyword.operator.logical.python',
      'entity.name.section.group-title',
    ],
  ],
  [
    'function',
    [
      'entity.name.function',
      'support.function',
      'meta.function-call entity.name.function',
      'variable.function',
      'entity.name.command',
      'meta.function-call.generic',
    ],
  ],
  [
    'type',
    [
      'entity.name.type',
      'entity.name.class',
      'entity.name.namespace',
      'entity.other.inherited-class',
      'support.class',
      'support.type',
      'storage.type.primitive',
      'storage.type.java',
      'storage.type.generic',
      'entity.name.scope-resolution',
    ],
  ],
  ['parameter', ['variable.parameter', 'meta.parameter variable', 'entity.name.variable.parameter']],
  [
    'property',
    [
      'support.type.property-name',
      'punctuation.support.type.property-name',
      'meta.property-name',
      'meta.object-literal.key',
      'variable.other.property',
      'variable.other.object.property',
      'entity.other.attribute-name',
      'support.variable.property',
      'entity.name.tag.yaml',
      'entity.name.tag.toml',
      'string.quoted.double.json support.type.property-name',
      'keyword.other.definition.ini',
      'variable.other.key',
    ],
  ],
  ['tag', ['entity.name.tag', 'punctuation.definition.tag', 'entity.name.selector', 'meta.selector entity']],
  [
    'punctuation',
    [
      'punctuation',
      'meta.brace',
      'keyword.operator',
      'punctuation.separator',
      'punctuation.terminator',
      'punctuation.accessor',
    ],
  ],
  ['heading', ['markup.heading', 'entity.name.section', 'punctuation.definition.heading']],
  ['link', ['markup.underline.link', 'string.other.link', 'meta.link']],
  ['strong', ['markup.bold', 'strong']],
  ['emphasis', ['markup.italic', 'emphasis']],
  ['inserted', ['markup.inserted', 'meta.diff.header.to-file', 'punctuation.definition.inserted']],
  ['deleted', ['markup.deleted', 'meta.diff.header.from-file', 'punctuation.definition.deleted']],
  ['changed', ['markup.changed', 'meta.diff.range', 'meta.diff.header', 'punctuation.definition.changed']],
  ['invalid', ['invalid', 'invalid.illegal']],
];

/** The colour that stands for a kind while Shiki works: `#000000` for text, `#000001` for comment, … */
function colourOf(kind: TokenKind): string {
  return `#${tokenKinds.indexOf(kind).toString(16).padStart(6, '0')}`;
}

/** The theme that makes Shiki answer with kinds. */
export const kindTheme: ThemeRegistrationRaw = {
  name: 'token-kinds',
  type: 'light',
  fg: colourOf('text'),
  bg: '#ffffff',
  settings: scopes.map(([kind, scope]) => ({
    scope: [...scope],
    settings: { foreground: colourOf(kind) },
  })),
};

/** The kind's number that a colour of the theme stands for; anything unknown is text. */
export function kindOfColour(colour: string | undefined): number {
  if (colour === undefined || !/^#[0-9a-f]{6}$/i.test(colour)) return 0;
  const kind = Number.parseInt(colour.slice(1), 16);
  return kind < tokenKinds.length ? kind : 0;
}
