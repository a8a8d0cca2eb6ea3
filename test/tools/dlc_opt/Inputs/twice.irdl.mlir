irdl.dialect @mine {
  irdl.operation @twice {
    %0 = irdl.any
    irdl.operands(x: %0)
    irdl.results(y: %0)
  }
}
