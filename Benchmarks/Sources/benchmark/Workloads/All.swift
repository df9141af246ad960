func allWorkloads(_ scale: Scale) -> [Workload] {
  [WriteWorkloads.power(scale)] + WriteWorkloads.process(scale) + [WriteWorkloads.batches(scale)]
    + OpenWorkloads.all(scale) + ReadWorkloads.all(scale) + [CompactWorkload.make(scale)]
}
