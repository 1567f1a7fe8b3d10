import ts from 'typescript-5';

/** A JSON Schema. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

/**
 * Generates a JSON Schema (draft 2020-12) of the types that a file exports. Each named type is a
 * definition.
 */
export function schemaOf(file: string, id: string, title: string): JsonSchema {
  const program = ts.createProgram([file], {
    strict: true,
    exactOptionalPropertyTypes: true,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    allowImportingTsExtensions: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${file} exports nothing.`);
  const definitions = new Definitions(checker);
  for (const symbol of checker.getExportsOfModule(module))
    definitions.add(checker.getDeclaredTypeOfSymbol(symbol), symbol.name);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: id,
    title,
    $defs: Object.fromEntries(
      [...definitions.byName].toSorted(([one], [other]) => (one < other ? -1 : 1)),
    ),
  };
}

class Definitions {
  readonly byName = new Map<string, JsonSchema>();
  readonly #names = new Map<ts.Type, string>();
  readonly #checker: ts.TypeChecker;

  constructor(checker: ts.TypeChecker) {
    this.#checker = checker;
  }

  /** Adds the definition of a type under its name, and those of the types that it refers to. */
  add(type: ts.Type, name: string): void {
    if (this.byName.has(name)) return;
    this.#names.set(type, name);
    this.byName.set(name, {}); // taken, for a type that refers to itself
    const description = docOf(type.aliasSymbol ?? type.symbol, this.#checker);
    this.byName.set(name, { ...description, ...(this.#structure(type) as object) });
  }

  #schema(type: ts.Type): JsonSchema {
    const name = this.#names.get(type) ?? nameOf(type);
    if (name === undefined) return this.#structure(type);
    this.add(type, name);
    return { $ref: `#/$defs/${name}` };
  }

  #structure(type: ts.Type): JsonSchema {
    const { flags } = type;
    if (flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return {};
    if (flags & ts.TypeFlags.Undefined) return false;
    if (flags & ts.TypeFlags.Null) return { type: 'null' };
    if (type.isStringLiteral() || type.isNumberLiteral()) return { const: type.value };
    if (flags & ts.TypeFlags.String) return { type: 'string' };
    if (flags & ts.TypeFlags.Number) return { type: 'number' };
    if (flags & ts.TypeFlags.Boolean) return { type: 'boolean' };
    if (flags & ts.TypeFlags.BooleanLiteral)
      return { const: this.#checker.typeToString(type) === 'true' };
    if (type.isUnion()) return this.#union(type.types);
    if (flags & ts.TypeFlags.NonPrimitive) return { type: 'object' };
    if (this.#checker.isArrayType(type)) {
      const [item] = this.#checker.getTypeArguments(type as ts.TypeReference);
      return { type: 'array', ...(item === undefined ? {} : { items: this.#schema(item) }) };
    }
    if (flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) return this.#object(type);
    throw new Error(`JSON Schema has no ${this.#checker.typeToString(type)}.`);
  }

  #union(types: readonly ts.Type[]): JsonSchema {
    const present = types.filter(({ flags }) => !(flags & ts.TypeFlags.Undefined));
    const literals = present.filter((type) => type.isStringLiteral());
    const hasBoolean =
      present.filter(({ flags }) => flags & ts.TypeFlags.BooleanLiteral).length === 2;
    const others = present.filter(
      (type) =>
        !type.isStringLiteral() && !(hasBoolean && type.flags & ts.TypeFlags.BooleanLiteral),
    );
    const parts: JsonSchema[] = [
      ...(literals.length === 0
        ? []
        : [{ enum: literals.map(({ value }) => value).toSorted(byText) }]),
      ...(hasBoolean ? [{ type: 'boolean' }] : []),
      ...others.map((type) => this.#schema(type)),
    ];
    const [only = false] = parts;
    return parts.length === 1 ? only : { anyOf: parts };
  }

  #object(type: ts.Type): JsonSchema {
    const members = this.#checker.getPropertiesOfType(type);
    const index = this.#checker.getIndexInfoOfType(type, ts.IndexKind.String);
    const properties = members.map((member) => {
      const schema = this.#schema(this.#checker.getTypeOfSymbol(member));
      const description = docOf(member, this.#checker);
      return [
        member.name,
        typeof schema === 'object' ? { ...description, ...schema } : schema,
      ] as const;
    });
    const required = members
      .filter(({ flags }) => !(flags & ts.SymbolFlags.Optional))
      .map(({ name }) => name);
    const rest = index === undefined ? {} : this.#schema(index.type);
    return {
      type: 'object',
      ...(properties.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
      ...(required.length === 0 ? {} : { required }),
      // Unknown members are allowed, unless an index signature says what they are.
      ...(Object.keys(rest).length === 0 ? {} : { additionalProperties: rest }),
    };
  }
}

/**
 * Returns the name of a type that is a definition: an alias or an interface without type arguments.
 */
function nameOf(type: ts.Type): string | undefined {
  const { aliasSymbol, aliasTypeArguments, symbol } = type;
  if (aliasSymbol !== undefined)
    return aliasTypeArguments === undefined ? aliasSymbol.name : undefined;
  const isInterface = symbol !== undefined && Boolean(symbol.flags & ts.SymbolFlags.Interface);
  const isGeneric = ((type as ts.TypeReference).typeArguments ?? []).length > 0;
  return isInterface && !isGeneric ? symbol.name : undefined;
}

function docOf(
  symbol: ts.Symbol | undefined,
  checker: ts.TypeChecker,
): { readonly description?: string } {
  const text = ts
    .displayPartsToString(symbol?.getDocumentationComment(checker))
    .replaceAll(/\s+/g, ' ')
    .trim();
  return text === '' ? {} : { description: text };
}

const byText = (one: string, other: string): number => (one < other ? -1 : 1);
