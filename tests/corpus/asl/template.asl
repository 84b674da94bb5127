PROPERTY TEMPLATE O<M, L> (R r) { CONDITION: M > L; SEVERITY: M; TITLE: "{M:%} over {place}"; } PROPERTY A = O<share(T), 0.1>; METAPROPERTY B { CONDITION: A; SEVERITY: A.severity; }
